import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { adminDirectoriesOf, isAttached, isUsable } from "../../../src/git/worktrees/adminDirectory.ts";
import { removeWorktreeFiles, unfinishedRemovals } from "../../../src/git/worktrees/removeWorktree.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

describe("git's directory of a worktree", () => {
  const scene = async () => {
    const cwd = temporaryRepository();
    const path = join(cwd, ".sanddune/worktrees/x");
    git(cwd, "worktree", "add", "--quiet", path);
    return {
      cwd,
      path,
      admin: join(cwd, ".git/worktrees/x"),
      repository: await runAtBoundary(openRepository(cwd)),
    };
  };

  it("is found by the worktree that it names, or else by its own name", async () => {
    const { admin, path, repository } = await scene();
    expect(adminDirectoriesOf(repository, path)).toEqual([admin]);
    expect(adminDirectoriesOf(repository, `${path}2`)).toEqual([]);
    truncateSync(join(admin, "gitdir"));
    expect(adminDirectoriesOf(repository, path)).toEqual([admin]);
  });

  it.each(["HEAD", "commondir", "gitdir"])(
    "is of no use with an empty %s, as a power cut leaves it",
    async (name) => {
      const { admin, path, repository } = await scene();
      expect([isUsable(admin), isAttached(repository, path)]).toEqual([true, true]);
      truncateSync(join(admin, name));
      expect([isUsable(admin), isAttached(repository, path)]).toEqual([false, false]);
    },
  );

  it("is removed with the worktree, whatever is in that", async () => {
    const { cwd, admin, path, repository } = await scene();
    writeFileSync(join(path, "unfinished.txt"), "");
    expect(await removeWorktreeFiles(repository, path)).toBeUndefined();
    expect([existsSync(path), existsSync(admin)]).toEqual([false, false]);
    expect(unfinishedRemovals(repository)).toEqual([]);
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it("that a crash has left half removed is found", async () => {
    const { cwd, repository } = await scene();
    const left = [join(cwd, ".sanddune/worktrees/.removing-1"), join(cwd, ".git/sanddune/.removing-2")];
    for (const path of left) mkdirSync(path, { recursive: true });
    expect(unfinishedRemovals(repository)).toEqual(left);
  });
});
