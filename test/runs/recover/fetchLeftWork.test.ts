import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it, onTestFinished } from "vitest";
import { openRepository } from "../../../src/git/repository.ts";
import { worktreeDirectoryName } from "../../../src/git/worktrees/worktrees.ts";
import { type FetchedWork, fetchLeftWork } from "../../../src/runs/recover/fetchLeftWork.ts";
import { readRun, type StoredRun } from "../../../src/runs/storedRun.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { begun, entry, RUN_ID, runDirectory } from "../journal/journals.ts";

interface Scene {
  readonly cwd: string;
  /** The repository in the sandbox. */
  readonly sandboxPath: string;
  readonly runDirectory: string;
  /** Runs git as the agent did in its sandbox. */
  readonly agent: (...args: string[]) => string;
  readonly fetch: () => Promise<FetchedWork | undefined>;
}

const TIP_REF = `refs/sanddune/runs/${RUN_ID}/tip`;

/** A run on branch `b` that has left an isolated sandbox, and whose worktree is gone. */
const scene = async (): Promise<Scene> => {
  const cwd = temporaryRepository();
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Second");
  git(cwd, "branch", "b");
  const tip = git(cwd, "rev-parse", "b");
  const directory = runDirectory(
    [
      begun({ sandbox: "test-isolated" }),
      entry("working", { checkout: "x", branch: "b", tip, isIsolated: true, nestedRepositories: [] }),
      entry("ended", { state: "failed" }),
    ],
    join(cwd, ".sanddune/runs"),
  );
  const provider = testIsolated();
  const handle = await provider.create({ sandboxName: `sanddune-${RUN_ID}`, runId: RUN_ID } as never);
  onTestFinished(() => handle.close());
  const sandboxPath = handle.worktreePath;
  git(cwd, "clone", "--quiet", "--branch", "b", cwd, sandboxPath);
  git(sandboxPath, "config", "user.name", "Agent");
  git(sandboxPath, "config", "user.email", "agent@example.com");
  const agent = (...args: string[]) => git(sandboxPath, ...args);
  const run = readRun(directory) as StoredRun;
  return {
    cwd,
    sandboxPath,
    runDirectory: directory,
    agent,
    fetch: () =>
      Effect.runPromise(
        Effect.flatMap(openRepository(cwd), (repository) => fetchLeftWork(repository, run, handle)),
      ),
  };
};

const commit = ({ agent }: Scene, subject: string): string => {
  agent("commit", "--quiet", "--allow-empty", "-m", subject);
  return agent("rev-parse", "HEAD");
};

/** Commits to `b` on the host, as a person does. */
const commitOnHost = (cwd: string, parent = "b"): string => {
  const sha = git(cwd, "commit-tree", "-p", parent, "-m", "Of a person", `${parent}^{tree}`);
  git(cwd, "update-ref", "refs/heads/b", sha);
  return sha;
};

it("puts commits on the branch, even if they replace those that the run started from", async () => {
  const here = await scene();
  here.agent("commit", "--quiet", "--amend", "--allow-empty", "-m", "Amended");
  const tip = commit(here, "More");
  expect(await here.fetch()).toMatchObject({ tip });
  expect(git(here.cwd, "rev-parse", "b")).toBe(tip);
});

it("removes no commits from a branch that was changed since; a ref keeps the sandbox's commits", async () => {
  const here = await scene();
  const tip = commit(here, "Of the agent");
  const moved = commitOnHost(here.cwd);
  const fetched = await here.fetch();
  expect(git(here.cwd, "rev-parse", "b")).toBe(moved);
  expect(git(here.cwd, "rev-parse", TIP_REF)).toBe(tip);
  expect(fetched).toMatchObject({ before: moved, tip: moved });
  expect(fetched?.warnings.join("\n")).toContain(TIP_REF);
});

it("reports nothing about commits that the changed branch already contains", async () => {
  const here = await scene();
  const tip = commit(here, "Imported before");
  git(here.cwd, "fetch", "--quiet", here.sandboxPath, "b");
  const moved = commitOnHost(here.cwd, tip);
  expect(await here.fetch()).toEqual({ before: moved, tip: moved, uncommitted: undefined, warnings: [] });
  expect(git(here.cwd, "rev-parse", "b")).toBe(moved);
});

it("a ref keeps the commits of a deleted branch", async () => {
  const here = await scene();
  const tip = commit(here, "Of the agent");
  git(here.cwd, "branch", "-D", "b");
  const fetched = await here.fetch();
  expect(git(here.cwd, "rev-parse", TIP_REF)).toBe(tip);
  expect(fetched?.warnings.join("\n")).toContain(TIP_REF);
});

it("reports the ref of uncommitted work that has no worktree", async () => {
  const here = await scene();
  writeFileSync(join(here.sandboxPath, "new.txt"), "new\n");
  const fetched = await here.fetch();
  expect(git(here.cwd, "show", `${fetched?.uncommitted}:new.txt`)).toBe("new");
  expect(fetched?.warnings.join("\n")).toContain(`refs/sanddune/runs/${RUN_ID}/uncommitted`);
});

it("does not change the worktree of a branch that was changed since", async () => {
  const here = await scene();
  const path = join(here.cwd, ".sanddune/worktrees", worktreeDirectoryName("b"));
  git(here.cwd, "worktree", "add", "--quiet", path, "b");
  writeFileSync(join(here.sandboxPath, "README.md"), "of the agent\n");
  writeFileSync(join(path, "mine.txt"), "mine\n");
  git(path, "add", ".");
  git(path, "commit", "--quiet", "-m", "Of a person");
  const fetched = await here.fetch();
  expect(git(path, "status", "--porcelain")).toBe("");
  expect(git(here.cwd, "show", `${fetched?.uncommitted}:README.md`)).toBe("of the agent");
  expect(fetched?.warnings.join("\n")).toContain(`refs/sanddune/runs/${RUN_ID}/uncommitted`);
});

it("keeps all files as an archive if some could not be exported", async () => {
  const here = await scene();
  const nested = join(here.sandboxPath, "nested");
  mkdirSync(nested);
  git(nested, "init", "--quiet");
  git(
    nested,
    "-c",
    "user.name=Agent",
    "-c",
    "user.email=agent@example.com",
    "commit",
    "--quiet",
    "--allow-empty",
    "-m",
    "Nested",
  );
  const fetched = await here.fetch();
  const archivePath = join(here.runDirectory, "rescue.tar");
  expect(existsSync(archivePath)).toBe(true);
  expect(fetched?.warnings.join("\n")).toContain(archivePath);
});

it("imports nothing from a sandbox that never got the repository", async () => {
  const here = await scene();
  rmSync(join(here.sandboxPath, ".git"), { recursive: true });
  expect(await here.fetch()).toBeUndefined();
});
