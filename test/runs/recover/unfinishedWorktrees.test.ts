import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { describe, expect, it } from "vitest";
import { lockWorktrees } from "../../../src/git/locks/locks.ts";
import { worktreeDirectoryName } from "../../../src/git/worktrees/worktrees.ts";
import { createWorktree } from "../../../src/index.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { forgetUnusable } from "../../../src/runs/recover/unfinishedWorktrees.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { begun, entry, RUN_ID, runDirectory } from "../journal/journals.ts";

/** A dead run's worktree, whole, and what git has of it. */
interface Scene {
  readonly cwd: string;
  readonly path: string;
  readonly administration: string;
}

const FILES = ["a.txt", "b.txt", "sub/c.txt"];

/** A repository with files, and a dead run that was making a worktree for the branch `b`, or had made it. */
const scene = (isFinished: boolean, isCopy = false): Scene => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "sub"));
  for (const name of FILES) writeFileSync(join(cwd, name), `${name}\n`.repeat(100));
  writeFileSync(join(cwd, ".gitignore"), "ignored\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Files");
  git(cwd, "branch", "b");
  const name = worktreeDirectoryName("b");
  const path = join(cwd, ".sanddune/worktrees", name);
  mkdirSync(join(cwd, ".sanddune/worktrees"), { recursive: true });
  writeFileSync(join(cwd, ".sanddune/worktrees/.gitignore"), "*\n");
  git(cwd, "worktree", "add", "--quiet", "--lock", "--reason", `sanddune run ${RUN_ID}`, path, "b");
  const owner = { ...ownIdentity(), startTime: "1" };
  runDirectory(
    [
      begun({ owner, sandbox: "bubblewrap" }),
      entry("creating", { what: "worktree", name: path, isNew: true, ...(isCopy && { isCopy }) }),
      ...(isFinished ? [entry("created", { what: "worktree", name: path })] : []),
    ],
    join(cwd, ".sanddune/runs"),
  );
  writeFileSync(join(cwd, ".sanddune/runs/.gitignore"), "*\n");
  return { cwd, path, administration: join(cwd, ".git/worktrees", name) };
};

const remove = (directory: string, ...names: string[]): void => {
  for (const name of names) rmSync(join(directory, name), { recursive: true, force: true });
};

const withoutFiles = ({ path }: Scene): void => remove(path, ...FILES, "README.md", ".gitignore", "sub");
const withoutIndex = ({ administration }: Scene): void => {
  renameSync(join(administration, "index"), join(administration, "index.lock"));
};
const detached = ({ administration }: Scene): void =>
  writeFileSync(join(administration, "HEAD"), `${"0".repeat(40)}\n`);

/** What `git worktree add` has done when it is killed: from the last step to the first. */
const MAKING: [string, (scene: Scene) => void][] = [
  ["nothing was left to do", () => {}],
  ["the index was to be put in place", withoutIndex],
  [
    "half of a file was written",
    (here) => {
      withoutIndex(here);
      remove(here.path, "b.txt", "sub");
      writeFileSync(join(here.path, "a.txt"), "a.t");
    },
  ],
  [
    "a file was made, and nothing written to it",
    (here) => {
      withoutIndex(here);
      writeFileSync(join(here.path, "README.md"), "");
    },
  ],
  [
    "some files were written",
    (here) => {
      withoutIndex(here);
      remove(here.path, "b.txt", "README.md");
    },
  ],
  [
    "no file was written",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index");
      writeFileSync(join(here.administration, "index.lock"), "");
    },
  ],
  [
    "HEAD was no branch yet",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD");
      detached(here);
    },
  ],
  [
    "there was no commondir",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir");
      detached(here);
    },
  ],
  [
    "commondir was empty",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD");
      detached(here);
      writeFileSync(join(here.administration, "commondir"), "");
    },
  ],
  [
    "HEAD was empty",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir");
      writeFileSync(join(here.administration, "HEAD"), "");
    },
  ],
  [
    "there was no HEAD",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD");
    },
  ],
  [
    ".git was empty",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD");
      writeFileSync(join(here.path, ".git"), "");
    },
  ],
  [
    "there was no .git",
    (here) => {
      withoutFiles(here);
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD");
      remove(here.path, ".git");
    },
  ],
  [
    "gitdir was empty",
    (here) => {
      remove(here.path, "");
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD");
      writeFileSync(join(here.administration, "gitdir"), "");
    },
  ],
  [
    "git had only locked it",
    (here) => {
      remove(here.path, "");
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD", "gitdir");
    },
  ],
  [
    "git had only made its own directory",
    (here) => {
      remove(here.path, "");
      remove(here.administration, "index", "logs", "ORIG_HEAD", "commondir", "HEAD", "gitdir", "locked");
    },
  ],
];

/** What a removal has done when it is killed, be it ours or git's; from the first step to the last. */
const REMOVING: [string, (scene: Scene) => void][] = [
  ["the worktree was renamed", ({ path }) => renameSync(path, join(path, "../.removing-0123456789ab"))],
  [
    "git had forgotten it, and half of it was deleted",
    ({ cwd, path, administration }) => {
      remove(path, "a.txt");
      renameSync(path, join(path, "../.removing-0123456789ab"));
      mkdirSync(join(cwd, ".git/sanddune"), { recursive: true });
      renameSync(administration, join(cwd, ".git/sanddune/.removing-0123456789ab"));
    },
  ],
  [
    "git had deleted .git and some files in place",
    ({ path }) => {
      remove(path, ".git", "a.txt", "sub");
      mkdirSync(join(path, "ignored"));
      writeFileSync(join(path, "ignored/package.js"), "");
    },
  ],
  [
    "git had deleted .git, forgotten it, and failed at a directory",
    ({ path, administration }) => {
      withoutFiles({ cwd: "", path, administration });
      remove(path, ".git");
      remove(administration, "");
      mkdirSync(join(path, "deep/deeper"), { recursive: true });
    },
  ],
  [
    "git was in the middle of forgetting it",
    ({ path, administration }) => {
      remove(path, "");
      remove(administration, "HEAD", "index", "logs");
    },
  ],
];

const STATES = [
  ...MAKING.map(([state, destroy]) => [`was made, and ${state}`, false, destroy] as const),
  ...REMOVING.map(([state, destroy]) => [`was removed, and ${state}`, true, destroy] as const),
];

const OPTIONS = { remove: true, runs: [], branches: [], records: false };
const clean = async (cwd: string, remove = true) =>
  cleanUp(await findRepository(cwd), { ...OPTIONS, remove });
const next = (cwd: string) => createWorktree({ cwd, branchStrategy: { type: "branch", branch: "b" } });

describe.each(STATES)("after a SIGKILL of everything while a worktree %s:", (_, isFinished, destroy) => {
  it("the next run gets a complete, clean worktree", async () => {
    const here = scene(isFinished);
    destroy(here);
    const worktree = await next(here.cwd);
    expect(worktree.worktreePath).toBe(here.path);
    expect(git(here.path, "status", "--porcelain")).toBe("");
    for (const name of FILES) expect(existsSync(join(here.path, name))).toBe(true);
    expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
    expect(git(here.cwd, "branch", "--list", "b")).toContain("b");
    await clean(here.cwd);
    expect(leftovers(here.cwd)).toEqual([]);
  });

  it("clean lists and removes the rest, and frees the branch", async () => {
    const here = scene(isFinished);
    destroy(here);
    const said = await clean(here.cwd, false);
    expect(said.filter(({ outcome }) => outcome !== "wouldBeRemoved")).toEqual([]);
    const done = await clean(here.cwd);
    expect(done.filter(({ outcome }) => outcome !== "removed")).toEqual([]);
    expect(leftovers(here.cwd)).toEqual([]);
    expect(readdirSync(join(here.cwd, ".git/sanddune"))).toEqual(["locks"]);
    expect(existsSync(here.administration)).toBe(false);
    expect(await clean(here.cwd)).toEqual([]);
    git(here.cwd, "worktree", "add", "--quiet", join(here.cwd, "mine"), "b");
  });
});

it.each([
  ["git was interrupted while it made or removed it", false, withoutIndex],
  ["a copy that fork() did not complete; the original has its files", true, withoutIndex],
  ["a copy that fork() did not complete; the original has its files", true, withoutFiles],
  [
    "no files were written to it",
    false,
    (here: Scene) => {
      withoutFiles(here);
      remove(here.administration, "index");
    },
  ],
])("a preview of clean says why an unfinished worktree goes: %s", async (because, isCopy, destroy) => {
  const here = scene(false, isCopy);
  destroy(here);
  expect((await clean(here.cwd, false)).find(({ what }) => what === "worktree")).toMatchObject({
    outcome: "wouldBeRemoved",
    detail: `of branch b, ${because}`,
  });
});

describe("an unfinished worktree with a file of the user", () => {
  it.each([
    ["was made", false],
    ["was removed", true],
  ])("while it %s is kept with it, and not handed to an agent", async (_, isFinished) => {
    const here = scene(isFinished);
    remove(here.path, "a.txt", "sub");
    if (isFinished) remove(here.path, ".git");
    writeFileSync(join(here.path, "mine.txt"), "mine\n");
    const outcomes = await clean(here.cwd);
    expect(outcomes).toContainEqual(
      expect.objectContaining({ what: "worktree", outcome: "kept", goesIfNamed: true }),
    );
    await expect(next(here.cwd)).rejects.toMatchObject({
      name: "BranchInUseError",
      message: expect.stringContaining("sanddune clean --branch b --yes"),
    });
    expect(readFileSync(join(here.path, "mine.txt"), "utf8")).toBe("mine\n");
    const named = await cleanUp(await findRepository(here.cwd), { ...OPTIONS, branches: ["b"] });
    expect(named.find(({ what }) => what === "worktree")).toMatchObject({ outcome: "removed" });
    expect(readdirSync(join(here.cwd, ".sanddune/worktrees"))).toEqual([".gitignore"]);
  });
});

it("a finished worktree never counts as unfinished, even if files are missing", async () => {
  const here = scene(true);
  remove(here.path, "a.txt");
  writeFileSync(join(here.path, "b.txt"), "changed\n");
  expect(await clean(here.cwd)).toContainEqual(
    expect.objectContaining({ keptBecause: "it holds changes that are not committed" }),
  );
  const worktree = await next(here.cwd);
  expect(git(here.path, "status", "--porcelain")).toBe(" D a.txt\n M b.txt");
  await worktree.close();
  expect(readFileSync(join(here.path, "b.txt"), "utf8")).toBe("changed\n");
});

it("a worktree that another process is creating is not touched", async () => {
  const here = scene(true);
  const repository = await findRepository(here.cwd);
  // Git writes these files one after the other, while it holds the lock.
  const head = readFileSync(join(here.administration, "HEAD"), "utf8");
  rmSync(join(here.administration, "HEAD"));
  const forgetting = Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* lockWorktrees(repository);
        // It looks at once, and waits for the lock.
        const fiber = yield* Effect.forkDetach(forgetUnusable(repository, listRuns(repository)), {
          startImmediately: true,
        });
        writeFileSync(join(here.administration, "HEAD"), head);
        return fiber;
      }),
    ).pipe(Effect.flatMap(Fiber.join)),
  );
  expect(await forgetting).toBe(false);
  expect(existsSync(here.administration)).toBe(true);
});
