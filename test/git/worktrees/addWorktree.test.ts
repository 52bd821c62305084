import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { HostFileError } from "../../../src/errors.ts";
import { readHostState } from "../../../src/git/hostState.ts";
import { openRepository } from "../../../src/git/repository.ts";
import {
  addWorktree,
  gitMustAddWorktrees,
  type WorktreeToAdd,
} from "../../../src/git/worktrees/addWorktree.ts";
import { registerWorktree } from "../../../src/git/worktrees/registerWorktree.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

const BRANCH = "agent/x";

const scene = async (cwd = temporaryRepository()) => {
  git(cwd, "branch", BRANCH);
  const repository = await runAtBoundary(openRepository(cwd));
  const { config } = await runAtBoundary(readHostState(repository));
  const path = join(temporaryDirectory(), "tree");
  const worktree: WorktreeToAdd = {
    path,
    branch: BRANCH,
    sha: git(cwd, "rev-parse", BRANCH),
    lockReason: "a test",
    isRegistered: false,
    isEmpty: false,
    needsGitToAdd: gitMustAddWorktrees(config),
  };
  return {
    ...{ cwd, repository, path, needsGit: worktree.needsGitToAdd },
    administration: join(cwd, ".git/worktrees/tree"),
    add: (others: Partial<WorktreeToAdd> = {}) =>
      runAtBoundary(addWorktree(repository, { ...worktree, ...others })),
  };
};

/** What git tells of a worktree, and the files that it needs for that. */
const seen = (cwd: string, path: string, administration: string) => ({
  list: git(cwd, "worktree", "list", "--porcelain").split("\n\n").at(-1),
  status: statusOf(path),
  files: readdirSync(path),
  index: git(path, "ls-files", "--stage"),
  gitFile: readFileSync(join(path, ".git"), "utf8"),
  administration: ["HEAD", "commondir", "gitdir", "locked"].map((name) =>
    readFileSync(join(administration, name), "utf8"),
  ),
});

for (const isEmpty of [false, true]) {
  it(`git sees in it what it sees in one of its own: ${isEmpty ? "without" : "with"} files`, async () => {
    const { cwd, add, path, administration, needsGit } = await scene();
    expect(needsGit).toBe(false);
    await add({ isEmpty });
    const own = seen(cwd, path, administration);
    git(cwd, "worktree", "remove", "--force", "--force", path);
    await add({ isEmpty, needsGitToAdd: true });
    expect(own).toEqual(seen(cwd, path, administration));
    expect(existsSync(join(path, "README.md"))).toBe(!isEmpty);
  });
}

it("git keeps it, commits in it, and removes it when it is unlocked", async () => {
  const { cwd, add, path } = await scene();
  await add();
  git(cwd, "worktree", "prune", "--expire=now");
  commitFiles(path, { "new.txt": "new\n" });
  expect(git(cwd, "show", `${BRANCH}:new.txt`)).toBe("new");
  git(cwd, "worktree", "unlock", path);
  git(cwd, "worktree", "remove", path);
  expect([existsSync(path), existsSync(join(cwd, ".git/worktrees"))]).toEqual([false, false]);
});

it("has another name below the git directory if that of its directory is taken", async () => {
  const { cwd, add, path, administration } = await scene();
  git(cwd, "worktree", "add", "--quiet", "--detach", join(temporaryDirectory(), "tree"));
  await add();
  expect(git(path, "rev-parse", "--absolute-git-dir")).toBe(`${administration}1`);
});

it("is added while a git of the user removes the directory of the last one", async () => {
  const { cwd, repository, path } = await scene();
  const parent = join(cwd, ".git/worktrees");
  const loop = spawn("sh", ["-c", 'while :; do rmdir "$0" 2>/dev/null; done', parent], { stdio: "ignore" });
  try {
    for (let round = 0; round < 500; round++) {
      const gitDirectory = registerWorktree(repository, { path, branch: BRANCH, lockReason: "a test" });
      expect(readFileSync(join(gitDirectory, "HEAD"), "utf8")).toBe(`ref: refs/heads/${BRANCH}\n`);
      rmSync(gitDirectory, { recursive: true });
    }
  } finally {
    loop.kill("SIGKILL");
    await once(loop, "close");
  }
});

it("takes the place of a registered one whose directory was deleted", async () => {
  const { cwd, add, path } = await scene();
  await add();
  rmSync(path, { recursive: true });
  await add({ isRegistered: true });
  expect([readdirSync(join(cwd, ".git/worktrees")), statusOf(path)]).toEqual([["tree"], ""]);
});

it("leaves nothing if its files cannot be written", async () => {
  const { cwd, add, path } = await scene();
  await expect(add({ sha: "1".repeat(40) })).rejects.toThrow("1111111");
  expect([existsSync(path), existsSync(join(cwd, ".git/worktrees"))]).toEqual([false, false]);
});

it("fails with the path if the git directory cannot be written", async () => {
  const { cwd, add } = await scene();
  writeFileSync(join(cwd, ".git/worktrees"), "a file\n");
  await expect(add()).rejects.toBeInstanceOf(HostFileError);
});

it("is left to git where worktrees have settings of their own", async () => {
  const cwd = temporaryRepository();
  commitFiles(cwd, { "in/a.txt": "", "out/b.txt": "" });
  git(cwd, "sparse-checkout", "set", "in");
  const { add, path, needsGit } = await scene(cwd);
  expect(needsGit).toBe(true);
  await add();
  expect([existsSync(join(path, "in")), existsSync(join(path, "out")), statusOf(path)]).toEqual([
    true,
    false,
    "",
  ]);
});

it("is left to git where a group shares the repository", async () => {
  const cwd = temporaryRepository();
  git(cwd, "config", "core.sharedRepository", "group");
  const { add, administration } = await scene(cwd);
  await add();
  expect(statSync(administration).mode & 0o2000).toBe(0o2000);
});
