import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { compareWithCommit } from "../../../src/git/worktrees/compareWithCommit.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles } from "../commitFiles.ts";

describe("a directory that git does not know", () => {
  const compare = async (change: (path: string) => void) => {
    const cwd = temporaryRepository();
    const commit = commitFiles(cwd, { "a.txt": "a\n", ".gitignore": "ignored\n" });
    const path = join(temporaryDirectory(), "directory");
    mkdirSync(path);
    execFileSync("sh", ["-c", `git archive ${commit} | tar -x -C ${path}`], { cwd });
    change(path);
    const repository = await runAtBoundary(openRepository(cwd));
    const content = await runAtBoundary(compareWithCommit(repository, path, commit));
    const left = join(cwd, ".git/sanddune");
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
    return content;
  };

  it.each<[string, (path: string) => void, boolean, boolean]>([
    ["holds nothing new as it was checked out", () => {}, false, false],
    ["holds nothing new if files are missing", (path) => rmSync(join(path, "a.txt")), false, false],
    [
      "holds nothing new in what git ignores",
      (path) => writeFileSync(join(path, "ignored"), ""),
      false,
      false,
    ],
    ["holds new files", (path) => writeFileSync(join(path, "new\n"), ""), true, false],
    ["holds changed files", (path) => writeFileSync(join(path, "a.txt"), "b\n"), false, true],
  ])("%s", async (_, change, hasNewFiles, hasChangedFiles) => {
    expect(await compare(change)).toEqual({ hasNewFiles, hasChangedFiles });
  });

  it("holds something if a pipe keeps git from looking", async () => {
    const content = await compare((path) =>
      execFileSync("sh", ["-c", "rm .gitignore; mkfifo .gitignore"], { cwd: path }),
    );
    expect(content).toEqual({ hasNewFiles: true, hasChangedFiles: true });
  });
});
