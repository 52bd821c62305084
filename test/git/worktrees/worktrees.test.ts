import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { readHostState } from "../../../src/git/hostState.ts";
import { lockWorktrees } from "../../../src/git/locks/locks.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { unlockWorktree } from "../../../src/git/worktrees/worktreeLock.ts";
import {
  deleteBranch,
  discardWorktree,
  inspectSourceBranch,
  openWorktree,
  removeWorktreeIfClean,
  worktreePathOf,
} from "../../../src/git/worktrees/worktrees.ts";
import { BranchInUseError, InvalidBranchNameError, NoSuchBranchError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

const runId = "20300102-030405-abcdef";

const scene = async (cwd = temporaryRepository()) => {
  const repository = await runAtBoundary(openRepository(cwd));
  const inspect = async (branch: string, from = git(cwd, "rev-parse", "HEAD")) => {
    const host = await runAtBoundary(readHostState(repository));
    return runAtBoundary(inspectSourceBranch(repository, host, branch, from));
  };
  const announced: boolean[] = [];
  return {
    cwd,
    repository,
    announced,
    inspect,
    pathOf: (branch: string) => worktreePathOf(repository, branch),
    /** What a run does, with something in between. */
    open: async (branch = "agent/x", from?: string, meanwhile: () => void = () => {}) => {
      const source = await inspect(branch, from);
      meanwhile();
      const announce = ({ isReused }: { readonly isReused: boolean }) => announced.push(isReused);
      return runAtBoundary(Effect.scoped(openWorktree(repository, source, runId, announce)));
    },
    unlock: (path: string) => runAtBoundary(unlockWorktree(repository, path)),
    removeIfClean: (path: string) => runAtBoundary(Effect.scoped(removeWorktreeIfClean(repository, path))),
    discard: (path: string) => runAtBoundary(Effect.scoped(discardWorktree(repository, path))),
  };
};

const registered = (cwd: string): string[] =>
  git(cwd, "worktree", "list", "--porcelain")
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice("worktree ".length));

describe("a new worktree", () => {
  it("is a checkout of a new branch, which starts at the given commit", async () => {
    const { cwd, open, pathOf, announced } = await scene();
    const from = git(cwd, "rev-parse", "HEAD");
    commitFiles(cwd, { "later.txt": "" });
    const worktree = await open("agent/x", from);
    expect(worktree).toEqual({
      ...{ path: pathOf("agent/x"), branch: "agent/x", baseSha: from, isReused: false, isNewBranch: true },
      gitDirectory: git(worktree.path, "rev-parse", "--absolute-git-dir"),
    });
    expect(git(worktree.path, "branch", "--show-current")).toBe("agent/x");
    expect([existsSync(join(worktree.path, "later.txt")), statusOf(worktree.path)]).toEqual([false, ""]);
    expect(announced).toEqual([false]);
  });

  it("is a checkout of a branch that exists, at its own commit", async () => {
    const { cwd, open } = await scene();
    git(cwd, "branch", "agent/x");
    const sha = git(cwd, "rev-parse", "agent/x");
    commitFiles(cwd, { "later.txt": "" });
    expect(await open()).toMatchObject({ baseSha: sha, isNewBranch: false });
    expect(git(cwd, "rev-parse", "agent/x", `refs/sanddune/base/${runId}`)).toBe(`${sha}\n${sha}`);
  });

  it("is locked by the name of its run, until it is unlocked", async () => {
    const { cwd, open, unlock } = await scene();
    const { path, gitDirectory } = await open();
    expect(readFileSync(join(gitDirectory, "locked"), "utf8").trim()).toBe(`sanddune run ${runId}`);
    expect(() => git(cwd, "worktree", "remove", path)).toThrow();
    await unlock(path);
    git(cwd, "worktree", "remove", path);
    expect(existsSync(path)).toBe(false);
  });

  it("is made from a linked worktree too, below the main checkout", async () => {
    const main = temporaryRepository();
    const linked = join(temporaryDirectory(), "linked");
    git(main, "worktree", "add", "--quiet", "-b", "other", linked);
    const { open } = await scene(linked);
    expect((await open()).path).toContain(join(main, ".sanddune/worktrees/"));
  });

  it("is made where HEAD is detached", async () => {
    const { cwd, open } = await scene();
    git(cwd, "switch", "--quiet", "--detach");
    expect(await open()).toMatchObject({ baseSha: git(cwd, "rev-parse", "HEAD"), isNewBranch: true });
  });

  it("has links and line ends as the user's checkouts have them", async () => {
    const { cwd, open } = await scene();
    git(cwd, "config", "core.autocrlf", "true");
    symlinkSync("README.md", join(cwd, "link"));
    const { path } = await open("agent/x", commitFiles(cwd, { "a.txt": "one\n", "ä\n": "" }));
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("one\r\n");
    expect([readFileSync(join(path, "link"), "utf8"), statusOf(path)]).toEqual(["# Fixture\r\n", ""]);
  });

  it("that git could not make leaves no branch behind", async () => {
    const { cwd, open, pathOf } = await scene();
    const opening = open("agent/x", undefined, () => {
      mkdirSync(join(cwd, ".sanddune/worktrees"), { recursive: true });
      symlinkSync("/nowhere", pathOf("agent/x"));
    });
    await expect(opening).rejects.toThrow();
    expect(git(cwd, "branch", "--list", "agent/x")).toBe("");
  });
});

describe("a worktree that an earlier run has left", () => {
  it("is reused with what is in it", async () => {
    const { open, unlock, announced } = await scene();
    const first = await open();
    await unlock(first.path);
    const tip = commitFiles(first.path, { "a.txt": "" });
    writeFileSync(join(first.path, "unfinished.txt"), "");
    expect(await open()).toEqual({ ...first, baseSha: tip, isReused: true, isNewBranch: false });
    expect(statusOf(first.path)).toBe("?? unfinished.txt");
    expect(existsSync(join(first.gitDirectory, "locked"))).toBe(true);
    expect(announced).toEqual([false, true]);
  });

  it("is reused with a relative path to its git directory, as git writes it if the user wants that", async () => {
    const { cwd, open } = await scene();
    const { path, gitDirectory } = await open();
    writeFileSync(join(path, ".git"), `gitdir: ${relative(path, gitDirectory)}\n`);
    expect(await open()).toMatchObject({ isReused: true, gitDirectory });
    expect(registered(cwd)).toEqual([cwd, path]);
  });

  it("is made anew if its directory was deleted, although git has it registered and locked", async () => {
    const { open, announced } = await scene();
    const first = await open();
    rmSync(first.path, { recursive: true });
    const second = await open();
    expect([second.isReused, existsSync(join(second.path, "README.md"))]).toEqual([false, true]);
    expect(announced).toEqual([false, false]);
  });

  it.each([
    ["and git still has it registered", []],
    ["and git has forgotten it", ["worktree", "prune", "--expire=now"]],
  ])("is found again after the repository was moved, %s", async (_, forget) => {
    const { cwd, open, unlock } = await scene(
      (() => {
        const path = join(temporaryDirectory(), "repository");
        git(temporaryRepository(), "clone", "--quiet", ".", path);
        git(path, "config", "user.name", "Dev");
        git(path, "config", "user.email", "dev@example.com");
        return path;
      })(),
    );
    const first = await open();
    await unlock(first.path);
    commitFiles(first.path, { "a.txt": "" });
    writeFileSync(join(first.path, "unfinished.txt"), "");
    renameSync(cwd, `${cwd}-moved`);
    if (forget.length > 0) git(`${cwd}-moved`, ...forget);
    const moved = await scene(`${cwd}-moved`);
    const second = await moved.open();
    expect([second.isReused, second.path]).toEqual([true, moved.pathOf("agent/x")]);
    expect(statusOf(second.path)).toBe("?? unfinished.txt");
  });
});

describe("a branch is refused", () => {
  it("if it does not exist and starts at none that does", async () => {
    const { inspect } = await scene();
    await expect(inspect("agent/x", "no-such-branch")).rejects.toBeInstanceOf(NoSuchBranchError);
  });

  it("if the user has it checked out, here or elsewhere", async () => {
    const { cwd, inspect } = await scene();
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", "-b", "other", linked);
    await expect(inspect("main")).rejects.toThrow(`the checkout at ${cwd}`);
    await expect(inspect("other")).rejects.toThrow(`the checkout at ${linked}`);
  });

  it("if the user is rebasing it, or checks it out since it was looked at", async () => {
    const { cwd, open } = await scene();
    commitFiles(cwd, { "a.txt": "a" });
    git(cwd, "switch", "--quiet", "--create", "agent/x", "HEAD~1");
    commitFiles(cwd, { "a.txt": "b" });
    expect(() => git(cwd, "rebase", "main")).toThrow();
    await expect(open()).rejects.toMatchObject({ name: "BranchInUseError", owner: `the checkout at ${cwd}` });
    git(cwd, "rebase", "--abort");
    git(cwd, "switch", "--quiet", "main");
    const opening = open("agent/x", undefined, () => void git(cwd, "switch", "--quiet", "agent/x"));
    await expect(opening).rejects.toMatchObject({
      name: "BranchInUseError",
      owner: `the checkout at ${cwd}`,
    });
    expect(registered(cwd)).toEqual([cwd]);
  });

  it("if its worktree was switched to another one", async () => {
    const { open, inspect } = await scene();
    const { path } = await open();
    git(path, "switch", "--quiet", "--create", "mine");
    await expect(inspect("agent/x")).rejects.toThrow(`the worktree at ${path}, which is on mine`);
    git(path, "switch", "--quiet", "--detach");
    await expect(inspect("agent/x")).rejects.toThrow("which is on a detached HEAD");
  });

  it("if there are files in its place that git knows nothing of", async () => {
    const { open, pathOf } = await scene();
    mkdirSync(pathOf("agent/x"), { recursive: true });
    writeFileSync(join(pathOf("agent/x"), "file"), "");
    await expect(open()).rejects.toBeInstanceOf(BranchInUseError);
    expect(existsSync(join(pathOf("agent/x"), "file"))).toBe(true);
  });

  it("if a commit of an agent has put a link in its place", async () => {
    const { cwd, open, pathOf } = await scene();
    const elsewhere = temporaryDirectory();
    mkdirSync(join(pathOf("agent/x"), ".."), { recursive: true });
    symlinkSync(elsewhere, pathOf("agent/x"));
    await expect(open()).rejects.toBeInstanceOf(BranchInUseError);
    expect([readdirSync(elsewhere), registered(cwd)]).toEqual([[], [cwd]]);
  });

  it.each([
    ["agent", "agent/x"],
    ["agent/x", "agent"],
  ])("if git cannot have both %s and %s", async (existing, branch) => {
    const { cwd, open } = await scene();
    git(cwd, "branch", existing);
    await expect(open(branch)).rejects.toBeInstanceOf(InvalidBranchNameError);
    expect(registered(cwd)).toEqual([cwd]);
  });

  it("if it was moved since it was looked at", async () => {
    const { cwd, open } = await scene();
    git(cwd, "branch", "agent/x");
    const opening = open("agent/x", undefined, () => {
      git(cwd, "branch", "--force", "agent/x", git(cwd, "commit-tree", "-m", "x", "HEAD^{tree}"));
    });
    await expect(opening).rejects.toBeInstanceOf(BranchInUseError);
    expect(registered(cwd)).toEqual([cwd]);
  });
});

describe("a worktree is removed", () => {
  it("if it holds nothing uncommitted, with what git ignores", async () => {
    const { cwd, open, removeIfClean } = await scene();
    const { path } = await open();
    commitFiles(path, { ".gitignore": "ignored\n" });
    writeFileSync(join(path, "ignored"), "");
    expect(await removeIfClean(path)).toEqual({ isRemoved: true, undeletable: undefined });
    expect([existsSync(path), registered(cwd)]).toEqual([false, [cwd]]);
    expect(git(cwd, "log", "-1", "--format=%s", "agent/x")).toBe(".gitignore");
  });

  it.each<[string, (path: string) => void]>([
    ["an untracked file", (path) => writeFileSync(join(path, "new\nline"), "")],
    ["a changed file", (path) => writeFileSync(join(path, "README.md"), "")],
    ["a deleted file", (path) => rmSync(join(path, "README.md"))],
    ["a staged file", (path) => void git(path, "rm", "--quiet", "--cached", "README.md")],
    ["a pipe for which git would wait", (path) => void git(path, "-c", "alias.p=!mkfifo .gitignore", "p")],
  ])("unless it holds %s", async (_, change) => {
    const { open, removeIfClean } = await scene();
    const { path } = await open();
    change(path);
    expect(await removeIfClean(path)).toEqual({ isRemoved: false });
    expect(existsSync(join(path, ".git"))).toBe(true);
  });

  it("unless a submodule in it was initialised, whose files git is not to look at", async () => {
    const { cwd, open, removeIfClean } = await scene();
    git(cwd, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", temporaryRepository(), "lib");
    const { path } = await open("agent/x", commitFiles(cwd, {}));
    git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    expect(statusOf(path)).toBe("");
    expect(await removeIfClean(path)).toEqual({ isRemoved: false });
  });

  it("with everything in it if it is discarded, and its branch stays", async () => {
    const { cwd, open, discard } = await scene();
    const { path } = await open();
    writeFileSync(join(path, "unfinished.txt"), "");
    await discard(path);
    expect([existsSync(path), registered(cwd)]).toEqual([false, [cwd]]);
    expect(git(cwd, "branch", "--list", "agent/x")).toBe("  agent/x");
  });

  it("from what git has registered if its directory is gone", async () => {
    const { cwd, open, discard } = await scene();
    const { path } = await open();
    rmSync(path, { recursive: true });
    await discard(path);
    expect(registered(cwd)).toEqual([cwd]);
  });

  it("only when no other run adds or removes one", async () => {
    const { repository, open, discard } = await scene();
    const { path } = await open();
    let discarding: Promise<unknown> = Promise.resolve();
    const existed = await runAtBoundary(
      Effect.scoped(
        Effect.gen(function* () {
          yield* lockWorktrees(repository);
          discarding = discard(path);
          // As long as discarding takes where nothing is locked, and longer.
          yield* Effect.promise(async () => (await scene()).open());
          return existsSync(path);
        }),
      ),
    );
    await discarding;
    expect([existed, existsSync(path)]).toEqual([true, false]);
  });
});

it("a branch is deleted only if it is where it was left", async () => {
  const { cwd, repository } = await scene();
  git(cwd, "branch", "agent/x");
  const sha = git(cwd, "rev-parse", "agent/x");
  expect(await runAtBoundary(deleteBranch(repository, "agent/x", "1".repeat(40)))).toBe(false);
  expect(await runAtBoundary(deleteBranch(repository, "agent/x", sha))).toBe(true);
  expect(git(cwd, "branch", "--list", "agent/x")).toBe("");
});
