import { appendFileSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorktree, DeadRunError, UntrustedRepositoryError } from "../../../src/index.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { findRun } from "../../../src/runs/findRun.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import type { RecoverOptions } from "../../../src/runs/recover/recoverRun.ts";
import { requireTrusted } from "../../../src/runs/recover/requireTrusted.ts";
import { rescueRun } from "../../../src/runs/recover/rescueRun.ts";
import type { SandboxLeftovers } from "../../../src/sandboxes/leftovers.ts";
import { addLeftovers } from "../../../src/sandboxes/registry.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { begun, entry, RUN_ID, runDirectory } from "../journal/journals.ts";

const DEAD = { ...ownIdentity(), startTime: "1" };
const SANDBOX = { what: "sandbox", name: `sanddune-${RUN_ID}` };

/** What a run writes when its agent is about to work. */
const working = (cwd: string, changes: object = {}): object =>
  entry("working", {
    checkout: "",
    branch: "b",
    tip: git(cwd, "rev-parse", "HEAD"),
    isIsolated: false,
    nestedRepositories: [],
    ...changes,
  });

/** A repository with the branch `b` in which a run has written such a journal. */
const repositoryWith = (lines: (cwd: string) => readonly object[]): string => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "b");
  mkdirSync(join(cwd, ".sanddune/runs"), { recursive: true });
  writeFileSync(join(cwd, ".sanddune/runs/.gitignore"), "*\n");
  runDirectory(lines(cwd), join(cwd, ".sanddune/runs"));
  return cwd;
};

const next = (cwd: string) => createWorktree({ cwd, branchStrategy: { type: "branch", branch: "b" } });
const rescue = async (cwd: string, options: RecoverOptions = {}) => {
  const repository = await findRepository(cwd);
  const runs = listRuns(repository);
  return rescueRun(repository, runs, findRun(runs, RUN_ID), options);
};

describe("a sandbox that sanddune cannot find", () => {
  const deadIn = (sandbox: string, changes: object = {}) =>
    repositoryWith((cwd) => [
      begun({ owner: DEAD, sandbox }),
      working(cwd, changes),
      entry("creating", SANDBOX),
    ]);

  it("blocks its branch until the user confirms that it is gone", async () => {
    const cwd = deadIn("of-my-own");
    await expect(next(cwd)).rejects.toMatchObject({
      name: "DeadRunError",
      deadRunId: RUN_ID,
      survivor: `its of-my-own sandbox sanddune-${RUN_ID}`,
    });
    await expect(rescue(cwd)).rejects.toBeInstanceOf(DeadRunError);
    expect((await rescue(cwd, { sandboxIsGone: true })).kept).toBeUndefined();
    await (await next(cwd)).close();
  });

  it("does not block its branch if it has its own files; that it may hold work is reported once", async () => {
    const cwd = deadIn("of-my-own", { isIsolated: true });
    const worktree = await next(cwd);
    expect(worktree.warnings.join()).toContain(`only in its sandbox sanddune-${RUN_ID}`);
    await worktree.close();
    const again = await next(cwd);
    expect(again.warnings).toEqual([]);
    await again.close();
    expect((await rescue(cwd)).kept).toContain("cannot be imported from there");
  });

  it("does not block the branch of an ended run, which has tried to close it", async () => {
    const cwd = deadIn("of-my-own");
    appendFileSync(
      join(cwd, ".sanddune/runs", RUN_ID, "journal.jsonl"),
      `${JSON.stringify(entry("ended", { state: "failed" }))}\n`,
    );
    const worktree = await next(cwd);
    expect(worktree.warnings).toEqual([]);
    await worktree.close();
  });
});

describe("a provider that rejects with errors of its own", () => {
  const boom = async () => {
    throw new TypeError("boom");
  };
  const cleanAfter = async (leftovers: Partial<SandboxLeftovers>) => {
    addLeftovers("of-others", {
      find: async () => "box 7",
      remove: async () => {},
      holdsWork: false,
      ...leftovers,
    });
    const cwd = repositoryWith((directory) => [
      begun({ owner: DEAD, sandbox: "of-others" }),
      working(directory),
      entry("creating", SANDBOX),
    ]);
    const options = { remove: true, runs: [], branches: [], records: false };
    const outcomes = await cleanUp(await findRepository(cwd), options);
    return outcomes.find(({ what }) => what === "sandbox");
  };

  it("while it looks for a sandbox: the sandbox is kept, with the reason", async () => {
    expect(await cleanAfter({ find: boom })).toMatchObject({
      outcome: "kept",
      keptBecause: expect.stringContaining("boom"),
    });
  });

  it("while it removes one: that is reported", async () => {
    expect(await cleanAfter({ remove: boom })).toMatchObject({
      outcome: "failed",
      problem: expect.stringContaining("boom"),
    });
  });
});

it("a journal that git tracks is ignored", async () => {
  const cwd = repositoryWith((cwd) => [
    begun({ owner: DEAD, sandbox: "of-my-own" }),
    working(cwd),
    entry("creating", SANDBOX),
  ]);
  git(cwd, "add", "--force", ".sanddune/runs");
  git(cwd, "commit", "--quiet", "-m", "Journal");
  const worktree = await next(cwd);
  expect(worktree.warnings.join()).toContain("It was ignored");
  await worktree.close();
  expect((await rescue(cwd)).kept).toContain("any commit may have written it");
});

it("a run that is running is not rescued", async () => {
  const cwd = repositoryWith((cwd) => [begun(), working(cwd)]);
  await expect(rescue(cwd)).rejects.toMatchObject({ name: "RunStillRunningError" });
});

describe("repositories in the checkout of a run that died", () => {
  const identityOf = (path: string): string => {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}`;
  };

  /** One that was there before the run, and one that was not. */
  const withNested = (owner: object, identity: (path: string) => string): string => {
    const cwd = repositoryWith(() => []);
    for (const name of ["mine", "made"]) {
      mkdirSync(join(cwd, name));
      git(join(cwd, name), "init", "--quiet");
    }
    const nestedRepositories = [["mine/.git", identity(join(cwd, "mine/.git"))]];
    runDirectory(
      [
        begun({ owner, strategy: "head", sourceBranch: "main" }),
        working(cwd, { branch: "main", nestedRepositories }),
      ],
      join(cwd, ".sanddune/runs"),
    );
    return cwd;
  };

  const otherDevice = (path: string) => identityOf(path).replace(/^\d+/, "999999");

  it.each([
    ["on the same day", DEAD, identityOf],
    ["after a reboot that has numbered the file systems anew", { ...DEAD, bootId: "another" }, otherDevice],
  ])("%s: the user's own is left alone, the other is disarmed", async (_, owner, identity) => {
    const cwd = withNested(owner, identity);
    expect(() => requireTrusted(join(cwd, "mine"))).not.toThrow();
    expect(() => requireTrusted(join(cwd, "made"))).toThrow(UntrustedRepositoryError);
    const { told } = await rescue(cwd);
    expect(told.join()).toContain('"made"');
    expect(told.join()).not.toContain('"mine"');
    expect(existsSync(join(cwd, "mine/.git"))).toBe(true);
    expect(existsSync(join(cwd, "made/.git"))).toBe(false);
    expect(() => requireTrusted(join(cwd, "made"))).not.toThrow();
  });

  it("are not opened while the run is running, directly or through a link", async () => {
    const cwd = withNested(ownIdentity(), identityOf);
    expect(() => requireTrusted(join(cwd, "made"))).toThrow(/still running/);
    expect(() => requireTrusted(join(cwd, "mine"))).not.toThrow();
    expect(() => requireTrusted(cwd)).not.toThrow();
  });
});

it("recovery updates an index that the run could not update", async () => {
  const cwd = repositoryWith(() => []);
  const worktree = await next(cwd);
  const { worktreePath } = worktree;
  const base = git(cwd, "rev-parse", "b");
  writeFileSync(join(worktreePath, "new.txt"), "new\n");
  await worktree.close();
  // The branch was moved, and everything was killed before the index was.
  git(worktreePath, "add", "new.txt");
  git(worktreePath, "commit", "--quiet", "-m", "Imported");
  git(worktreePath, "read-tree", base);
  writeFileSync(join(git(worktreePath, "rev-parse", "--absolute-git-dir"), "index.lock"), "");
  const directory = runDirectory(
    [begun({ owner: DEAD }), { ...working(cwd), tip: base }],
    join(cwd, ".sanddune/runs"),
  );
  git(cwd, "clone", "--quiet", "--bare", "--shared", "--branch", "b", cwd, join(directory, "files/git"));
  await rescue(cwd);
  expect(git(worktreePath, "status", "--porcelain")).toBe("");
});

describe("commits that a run has left in its git directory", () => {
  /** A dead run on `b`, in whose sandbox there is one commit more. */
  const withCommit = (): { readonly cwd: string; readonly sha: string } => {
    const cwd = repositoryWith(() => []);
    const directory = runDirectory([begun({ owner: DEAD }), working(cwd)], join(cwd, ".sanddune/runs"));
    const gitDirectory = join(directory, "files/git");
    git(cwd, "clone", "--quiet", "--bare", "--shared", "--branch", "b", cwd, gitDirectory);
    const sha = git(gitDirectory, ...AGENT, "commit-tree", "-p", "b", "-m", "Left", "b^{tree}");
    git(gitDirectory, "update-ref", "refs/heads/b", sha);
    return { cwd, sha };
  };
  const AGENT = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];

  it("can be rescued after their branch was removed", async () => {
    const { cwd, sha } = withCommit();
    const outcomes = await cleanUp(await findRepository(cwd), {
      remove: true,
      runs: [],
      branches: ["b"],
      records: false,
    });
    const kept = outcomes.find(({ what }) => what === "files");
    expect(kept).toMatchObject({ outcome: "kept" });
    expect(kept?.keptBecause).toContain(`sanddune rescue ${RUN_ID}`);
    expect((await rescue(cwd)).commits).toBe(1);
    expect(git(cwd, "rev-parse", "b")).toBe(sha);
  });

  it("without a known base are not reported as recovered", async () => {
    const { cwd } = withCommit();
    runDirectory([begun({ owner: DEAD })], join(cwd, ".sanddune/runs"));
    expect((await rescue(cwd)).kept).toContain("files/git");
    expect((await rescue(cwd)).kept).toContain("files/git");
  });
});

it("clean suggests no useless command for a bundle that could not be imported", async () => {
  const cwd = repositoryWith((cwd) => [
    begun({ sandbox: "test-isolated" }),
    working(cwd, { isIsolated: true }),
    entry("ended", { state: "failed" }),
  ]);
  const files = join(cwd, ".sanddune/runs", RUN_ID, "files");
  mkdirSync(files);
  writeFileSync(join(files, "1.bundle"), "refused\n");
  const options = { remove: true, runs: [], branches: [], records: false };
  const outcomes = await cleanUp(await findRepository(cwd), options);
  const kept = outcomes.find(({ what }) => what === "files");
  expect(kept?.keptBecause).toContain("1.bundle");
  expect(kept?.keptBecause).not.toContain("sanddune rescue");
});
