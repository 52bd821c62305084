import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { writeFilesOf } from "../../../src/git/snapshots/checkpointCheckout.ts";
import { changesOf, listCheckpoints, patchOf } from "../../../src/git/snapshots/checkpointDiff.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commitFiles } from "../commitFiles.ts";

const runId = "20300102-030405-abcdef";

it("the checkpoints of a run are listed by their numbers, and nothing else is one", async () => {
  const cwd = temporaryRepository();
  const sha = git(cwd, "rev-parse", "HEAD");
  for (const name of [
    `${runId}/checkpoints/10`,
    `${runId}/checkpoints/9`,
    `${runId}/checkpoints/x`,
    "other/checkpoints/1",
  ])
    git(cwd, "update-ref", `refs/sanddune/${name}`, sha);
  expect(await listCheckpoints(cwd, runId)).toEqual([
    { number: 9, sha },
    { number: 10, sha },
  ]);
});

describe("the changes of commits", () => {
  it("are counted by file, also in the first commit", async () => {
    const cwd = temporaryRepository();
    const first = git(cwd, "rev-parse", "HEAD");
    const second = commitFiles(cwd, { "README.md": "one\ntwo\n", "binary\n": "\0", "ä\tb": "1\n" });
    const changes = await changesOf(cwd, [first, second]);
    expect(changes.get(first)).toEqual([{ path: "README.md", added: 1, removed: 0 }]);
    expect(changes.get(second)).toEqual([
      { path: "README.md", added: 2, removed: 1 },
      { path: "binary\n", added: undefined, removed: undefined },
      { path: "ä\tb", added: 1, removed: 0 },
    ]);
    expect(await changesOf(cwd, [])).toEqual(new Map());
  });

  it("are shown as a patch, by no program that the repository names", async () => {
    const cwd = temporaryRepository();
    const trap = join(temporaryDirectory(), "trap");
    git(cwd, "config", "diff.external", `touch ${trap}; :`);
    git(cwd, "config", "diff.trap.textconv", `touch ${trap}; cat`);
    const commit = commitFiles(cwd, { ".gitattributes": "*.txt diff=trap\n", "a.txt": "new\n" });
    expect(await patchOf(cwd, commit)).toContain("+++ b/a.txt\n@@ -0,0 +1 @@\n+new");
    expect(existsSync(trap)).toBe(false);
  });
});

describe("the files of a commit", () => {
  const write = async (cwd: string, commit: string) => {
    const directory = join(temporaryDirectory(), "files");
    mkdirSync(directory);
    await runAtBoundary(writeFilesOf(await runAtBoundary(openRepository(cwd)), commit, directory));
    return directory;
  };

  it("are written with modes and links, and no git directory", async () => {
    const cwd = temporaryRepository();
    symlinkSync("nowhere", join(cwd, "link"));
    writeFileSync(join(cwd, "run.sh"), "");
    chmodSync(join(cwd, "run.sh"), 0o755);
    const directory = await write(cwd, commitFiles(cwd, { "ä/new\nline": "1\n" }));
    expect(readdirSync(directory).sort()).toEqual(["README.md", "link", "run.sh", "ä"]);
    expect(readFileSync(join(directory, "ä/new\nline"), "utf8")).toBe("1\n");
    expect(readlinkSync(join(directory, "link"))).toBe("nowhere");
    expect(statSync(join(directory, "run.sh")).mode & 0o100).toBe(0o100);
    expect(readdirSync(join(directory, ".."))).toEqual(["files"]);
  });

  it("pass through no filter of the user, and keep their line ends", async () => {
    const cwd = temporaryRepository();
    const trap = join(temporaryDirectory(), "trap");
    const commit = commitFiles(cwd, {
      ".gitattributes": "*.txt filter=trap\n",
      "a.txt": "one\n",
      "b.md": "one\n",
    });
    const home = temporaryDirectory();
    writeFileSync(
      join(home, ".gitconfig"),
      `[filter "trap"]\n\tsmudge = touch ${trap} && cat\n[core]\n\tautocrlf = true\n`,
    );
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const directory = await write(cwd, commit);
    expect(readFileSync(join(directory, "b.md"), "utf8")).toBe("one\n");
    expect(existsSync(trap)).toBe(false);
  });

  it("that cannot be written leave no directory behind", async () => {
    const cwd = temporaryRepository();
    const directory = join(temporaryDirectory(), "files");
    mkdirSync(directory);
    const repository = await runAtBoundary(openRepository(cwd));
    await expect(runAtBoundary(writeFilesOf(repository, "1".repeat(40), directory))).rejects.toThrow();
    expect(readdirSync(join(directory, ".."))).toEqual([]);
  });
});
