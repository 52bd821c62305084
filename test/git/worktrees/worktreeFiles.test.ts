import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { moveWorktreeFiles, openWorktreeFiles } from "../../../src/git/worktrees/worktreeFiles.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

/** A worktree of branch `agent/x`; commits on `main` stand for those of a sandbox. */
const scene = () => {
  const cwd = temporaryRepository();
  const path = join(temporaryDirectory(), "worktree");
  git(cwd, "worktree", "add", "--quiet", "-b", "agent/x", path);
  const gitDirectory = git(path, "rev-parse", "--absolute-git-dir");
  const baseSha = git(path, "rev-parse", "HEAD");
  const indexPath = join(temporaryDirectory(), "index");
  return {
    path,
    open: () => runAtBoundary(openWorktreeFiles({ path, gitDirectory, baseSha }, indexPath)),
    sandbox: (files: Readonly<Record<string, string>>) => commitFiles(cwd, files),
    read: (name: string) => readFileSync(join(path, name), "utf8"),
  };
};

describe("the files of a worktree whose agent works in an isolated sandbox", () => {
  it("follow the sandbox, and git shows the difference to the branch", async () => {
    const { path, open, sandbox, read } = scene();
    const files = await open();
    expect(files.uncommitted).toBeUndefined();
    expect(
      await runAtBoundary(moveWorktreeFiles(files, sandbox({ "README.md": "one\n", ä: "" }))),
    ).toBeUndefined();
    expect(await runAtBoundary(moveWorktreeFiles(files, sandbox({ "README.md": "two\n" })))).toBeUndefined();
    expect(read("README.md")).toBe("two\n");
    expect(statusOf(path)).toBe(" M README.md\n?? ä");
  });

  it("are left alone if something else has changed them meanwhile, and the sentence says so", async () => {
    const { path, open, sandbox, read } = scene();
    const files = await open();
    const commit = sandbox({ "README.md": "sandbox\n", "new.txt": "" });
    writeFileSync(join(path, "README.md"), "user\n");
    expect(await runAtBoundary(moveWorktreeFiles(files, commit))).toContain(commit);
    expect([read("README.md"), statusOf(path)]).toEqual(["user\n", " M README.md"]);
  });

  it("do not replace a user's untracked file", async () => {
    const { path, open, sandbox, read } = scene();
    const files = await open();
    writeFileSync(join(path, "new.txt"), "user\n");
    expect(await runAtBoundary(moveWorktreeFiles(files, sandbox({ "new.txt": "sandbox\n" })))).toContain(
      "new.txt",
    );
    expect(read("new.txt")).toBe("user\n");
  });

  it("are committed as they are when a run begins, without touching index or branch", async () => {
    const { path, open } = scene();
    writeFiles(path, { "README.md": "changed\n", "staged.txt": "", "ä\n": "" });
    git(path, "add", "staged.txt");
    const before = [statusOf(path), git(path, "rev-parse", "HEAD")];
    const { uncommitted = "", current } = await open();
    expect(git(path, "diff", "--name-only", "-z", "HEAD", uncommitted)).toBe("README.md\0staged.txt\0ä\n\0");
    expect(current).toBe(uncommitted);
    expect([statusOf(path), git(path, "rev-parse", "HEAD")]).toEqual(before);
  });

  it("do not include a repository in them, which git does not enter", async () => {
    const { path, open } = scene();
    git(path, "init", "--quiet", "inner");
    writeFiles(path, { "inner/a.txt": "", "b.txt": "" });
    const { uncommitted = "" } = await open();
    expect(git(path, "ls-tree", "-r", "--name-only", uncommitted).split("\n")).toEqual([
      "README.md",
      "b.txt",
    ]);
  });
});
