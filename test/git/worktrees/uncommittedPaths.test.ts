import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { listUncommitted } from "../../../src/git/worktrees/uncommittedPaths.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles } from "../commitFiles.ts";

describe("the uncommitted paths of a checkout", () => {
  it("are changed, deleted, staged and untracked files, and whole new directories", async () => {
    const cwd = temporaryRepository();
    commitFiles(cwd, { "gone.txt": "", ".gitignore": "ignored\n" });
    rmSync(join(cwd, "gone.txt"));
    writeFiles(cwd, { "README.md": "", "ä\n": "", "new/a": "", "new/b": "", ignored: "", staged: "" });
    git(cwd, "add", "staged");
    const listed = await runAtBoundary(listUncommitted(cwd));
    expect([...listed].sort()).toEqual(["README.md", "gone.txt", "new/", "staged", "ä\n"]);
  });

  it("do not include the config directory, nor a rename's old name alone", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { ".sanddune/config.json": "{}" });
    git(cwd, "mv", "README.md", "readme.md");
    expect([...(await runAtBoundary(listUncommitted(cwd)))].sort()).toEqual(["README.md", "readme.md"]);
  });

  it("are not waited for where a pipe would block git", async () => {
    const cwd = temporaryRepository();
    execFileSync("mkfifo", [".gitattributes"], { cwd });
    await expect(runAtBoundary(listUncommitted(cwd))).rejects.toThrow("named pipe");
  });
});
