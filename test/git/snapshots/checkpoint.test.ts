import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { takeCheckpoint } from "../../../src/git/snapshots/checkpoint.ts";
import { SandboxError } from "../../../src/index.ts";
import { localHandle } from "../../helpers/repository/localHandle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

const scene = () => {
  const cwd = temporaryRepository();
  const gitDirectory = join(cwd, ".git");
  const sandbox = { handle: localHandle(cwd), gitDirectory, hostGitDirectory: gitDirectory };
  const base = git(cwd, "rev-parse", "HEAD");
  return {
    cwd,
    base,
    take: (parent = base) => {
      const { signal } = new AbortController();
      return takeCheckpoint(sandbox, { number: 3, parent, signal, timeoutMs: 30_000 });
    },
    filesOf: (commit = "") =>
      git(cwd, "ls-tree", "-r", "--name-only", "-z", commit).split("\0").filter(Boolean),
  };
};

describe("a checkpoint", () => {
  it("holds all files on top of the one before, and touches neither index nor branch", async () => {
    const { cwd, base, take, filesOf } = scene();
    commitFiles(cwd, { ".gitignore": "ignored\n" });
    const tip = git(cwd, "rev-parse", "main");
    writeFiles(cwd, { "ä/new\nline": "", ignored: "", "staged.txt": "", "-n": "" });
    symlinkSync("/nowhere", join(cwd, "link"));
    git(cwd, "add", "staged.txt");
    const before = statusOf(cwd);
    const { sha = "", isIncomplete } = await take();
    expect(git(cwd, "log", "-1", "--format=%P|%s|%an", sha)).toBe(`${base}|Checkpoint 3|sanddune`);
    expect(filesOf(sha).sort()).toEqual([
      ...["-n", ".gitignore", "README.md", "link", "staged.txt", "ä/new\nline"],
    ]);
    expect(isIncomplete).toBe(false);
    expect([statusOf(cwd), git(cwd, "rev-parse", "main")]).toEqual([before, tip]);
    expect(git(cwd, "rev-parse", "refs/sanddune/checkpoint")).toBe(sha);
  });

  it("is not made if nothing has changed since the one before", async () => {
    const { cwd, take } = scene();
    writeFiles(cwd, { "a.txt": "" });
    const { sha } = await take();
    expect(await take(sha)).toEqual({ sha: undefined, isIncomplete: false });
  });

  it("leaves out files that are too large, and says that it is incomplete", async () => {
    const { cwd, take, filesOf } = scene();
    writeFiles(cwd, { "large\nfile": "", "small.txt": "" });
    truncateSync(join(cwd, "large\nfile"), 16 * 1024 * 1024 + 1);
    const { sha, isIncomplete } = await take();
    expect([filesOf(sha), isIncomplete]).toEqual([["README.md", "small.txt"], true]);
  });

  it("says that it is incomplete if a repository is in the worktree", async () => {
    const { cwd, take } = scene();
    mkdirSync(join(cwd, "inner"));
    git(join(cwd, "inner"), "init", "--quiet");
    git(
      join(cwd, "inner"),
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    expect((await take()).isIncomplete).toBe(true);
  });

  it("holds the conflicts of a merge that is under way", async () => {
    const { cwd, take } = scene();
    git(cwd, "switch", "--quiet", "--create", "other");
    commitFiles(cwd, { "a.txt": "other\n" });
    git(cwd, "switch", "--quiet", "main");
    commitFiles(cwd, { "a.txt": "main\n" });
    expect(() => git(cwd, "merge", "--quiet", "other")).toThrow();
    const { sha = "" } = await take();
    expect(git(cwd, "cat-file", "blob", `${sha}:a.txt`)).toContain("=======");
    expect(statusOf(cwd)).toBe("AA a.txt");
  });

  it("is made where the index is missing or damaged", async () => {
    const { cwd, take, filesOf } = scene();
    writeFileSync(join(cwd, ".git/index"), "damaged");
    writeFiles(cwd, { "a.txt": "" });
    expect(filesOf((await take()).sha)).toEqual(["README.md", "a.txt"]);
  });

  it("is made beside an index that is locked, and runs no hook", async () => {
    const { cwd, take } = scene();
    const trap = join(temporaryDirectory(), "trap");
    mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
    writeFileSync(join(cwd, ".git/hooks/reference-transaction"), `#!/bin/sh\ntouch ${trap}\n`);
    chmodSync(join(cwd, ".git/hooks/reference-transaction"), 0o755);
    writeFileSync(join(cwd, ".git/index.lock"), "");
    writeFiles(cwd, { "a.txt": "" });
    expect((await take()).sha).toBeDefined();
    expect([existsSync(trap), existsSync(join(cwd, ".git/index.lock"))]).toEqual([false, true]);
  });

  it("that git cannot make is an error", async () => {
    const { cwd, take } = scene();
    execFileSync("sh", ["-c", "rm -r .git/objects; echo > a.txt"], { cwd });
    await expect(take()).rejects.toBeInstanceOf(SandboxError);
  });
});
