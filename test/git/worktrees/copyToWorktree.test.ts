import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { checkCopyItems, copyToWorktree } from "../../../src/git/worktrees/copyToWorktree.ts";
import { CopyToWorktreeError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const ITEMS = ["modules", "local.json"];

/** A repository with files that git ignores, and a worktree of it; `copy()` is what a run does. */
const scene = async () => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, ".git/info/exclude"), "modules\nlocal.json\n");
  mkdirSync(join(cwd, "modules/package"), { recursive: true });
  writeFileSync(join(cwd, "modules/package/index.js"), "one\n");
  writeFileSync(join(cwd, "modules/run"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync("package/index.js", join(cwd, "modules/link"));
  writeFileSync(join(cwd, "local.json"), '{"key": 1}\n');
  const path = join(temporaryDirectory(), "worktree");
  git(cwd, "worktree", "add", "--quiet", "-b", "agent/x", path);
  const gitDirectory = git(path, "rev-parse", "--absolute-git-dir");
  const repository = await runAtBoundary(openRepository(cwd));
  return {
    host: (file: string) => join(cwd, file),
    copied: (file: string) => join(path, file),
    read: (file: string) => readFileSync(join(path, file), "utf8"),
    gitDirectory,
    copy: (items = ITEMS, timeoutMs = 60_000) =>
      runAtBoundary(copyToWorktree(repository, { path, gitDirectory }, items, timeoutMs)),
  };
};

describe("a copy into a new worktree", () => {
  it("is whole: permissions, times and links", async () => {
    const { host, copied, read, copy } = await scene();
    expect(await copy()).toEqual([]);
    expect(read("modules/package/index.js")).toBe("one\n");
    expect(readlinkSync(copied("modules/link"))).toBe("package/index.js");
    expect(statSync(copied("modules/run")).mode & 0o777).toBe(0o755);
    expect(statSync(copied("local.json")).mtimeMs).toBe(statSync(host("local.json")).mtimeMs);
  });

  it("leaves nothing in the git directory but a note of when it was made", async () => {
    const { gitDirectory, copy } = await scene();
    const before = readdirSync(gitDirectory);
    await copy();
    expect(readdirSync(gitDirectory).filter((name) => !before.includes(name))).toEqual(["sanddune-copied"]);
  });

  it("does not replace a file of the branch, and says so", async () => {
    const { host, read, copy } = await scene();
    writeFileSync(host("README.md"), "# Half a sentence\n");
    expect(await copy(["README.md"])).toEqual([
      expect.stringMatching(/"README\.md".*differ.*: README\.md\.$/),
    ]);
    expect(read("README.md")).toBe("# Fixture\n");
  });

  it("completes a directory of which the branch has a part", async () => {
    const { host, copied, read, copy } = await scene();
    mkdirSync(host("config/deep"), { recursive: true });
    mkdirSync(copied("config/deep"), { recursive: true });
    for (const name of ["config/own.json", "config/deep/own.json", "config/same.json"]) {
      writeFileSync(host(name), "host\n");
    }
    writeFileSync(copied("config/deep/own.json"), "branch\n");
    writeFileSync(copied("config/same.json"), "host\n");
    writeFileSync(copied("config/other.json"), "branch\n");
    expect(await copy(["config"])).toEqual([
      expect.stringMatching(/were not copied: config\/deep\/own\.json\.$/),
    ]);
    expect(read("config/own.json")).toBe("host\n");
    expect(read("config/deep/own.json")).toBe("branch\n");
    expect(read("config/other.json")).toBe("branch\n");
  });
});

describe("a copy into a worktree that an earlier run has left", () => {
  it("leaves alone what was changed there, whatever times the files have, and names it", async () => {
    const { host, copied, read, copy } = await scene();
    await copy();
    const { atime, mtime } = statSync(copied("local.json"));
    writeFileSync(copied("local.json"), '{"key": 3}\n');
    utimesSync(copied("local.json"), atime, mtime);
    writeFileSync(copied("modules/package/index.js"), "the agent's\n");
    writeFileSync(host("local.json"), '{"key": 2}\n');
    writeFileSync(host("modules/run"), "#!/bin/sh -e\n");

    const sentences = await copy();
    expect(sentences).toHaveLength(2);
    expect(sentences[0]).toMatch(/"modules".*kept.*modules\/package\/index\.js.*rm -r /);
    expect(sentences[1]).toMatch(/"local\.json".*kept/);
    expect(read("local.json")).toBe('{"key": 3}\n');
    expect(read("modules/package/index.js")).toBe("the agent's\n");
    // No mixture of two states: the directory stays as the agent had it.
    expect(read("modules/run")).toBe("#!/bin/sh\n");
  });

  it("leaves alone what was changed there, if the rights of everything were changed afterwards", async () => {
    const { host, copied, read, gitDirectory, copy } = await scene();
    await copy();
    writeFileSync(copied("local.json"), "the agent's\n");
    const notes = join(gitDirectory, "sanddune-copied");
    for (const name of readdirSync(notes)) chmodSync(join(notes, name), 0o600);
    writeFileSync(host("local.json"), "the user's\n");
    expect(await copy()).toEqual([expect.stringMatching(/differ from yours.*local\.json/)]);
    expect(read("local.json")).toBe("the agent's\n");
  });

  it("says nothing if there is nothing new to copy", async () => {
    const { copied, read, copy } = await scene();
    await copy();
    writeFileSync(copied("modules/package/index.js"), "the agent's\n");
    writeFileSync(copied("modules/added.js"), "added\n");
    expect(await copy()).toEqual([]);
    expect(read("modules/package/index.js")).toBe("the agent's\n");
    expect(read("modules/added.js")).toBe("added\n");
  });

  it("is made anew if only the original has changed", async () => {
    const { host, copied, read, copy } = await scene();
    await copy();
    writeFileSync(host("local.json"), '{"key": 2}\n');
    writeFileSync(host("modules/package/index.js"), "two\n");
    rmSync(host("modules/run"));
    expect(await copy()).toEqual([]);
    expect(read("local.json")).toBe('{"key": 2}\n');
    expect(read("modules/package/index.js")).toBe("two\n");
    expect(existsSync(copied("modules/run"))).toBe(false);
    // And that copy is known as well.
    writeFileSync(host("local.json"), '{"key": 4}\n');
    expect(await copy()).toEqual([]);
    expect(read("local.json")).toBe('{"key": 4}\n');
  });

  it.each<[string, (file: (name: string) => string) => void]>([
    ["deleted", (file) => rmSync(file("modules/run"))],
    ["added", (file) => writeFileSync(file("modules/package/new.js"), "")],
    ["made executable", (file) => chmodSync(file("modules/package/index.js"), 0o755)],
    [
      "replaced by a link",
      (file) => {
        rmSync(file("modules"), { recursive: true });
        symlinkSync("/etc", file("modules"));
      },
    ],
  ])("leaves a directory alone in which something was %s", async (_, change) => {
    const { host, copied, copy } = await scene();
    await copy();
    change(copied);
    const before = lstatSync(copied("modules")).isSymbolicLink() || readdirSync(copied("modules"));
    writeFileSync(host("modules/package/index.js"), "two\n");
    expect(await copy()).toEqual([expect.stringContaining('"modules"')]);
    expect(lstatSync(copied("modules")).isSymbolicLink() || readdirSync(copied("modules"))).toEqual(before);
  });

  it("does not restore a file of the branch that the agent has deleted", async () => {
    const { host, copied, read, copy } = await scene();
    mkdirSync(copied("config"));
    for (const name of ["config/old.json", "config/new.json"]) writeFileSync(copied(name), "branch\n");
    git(copied("."), "add", "config");
    git(copied("."), "commit", "--quiet", "-m", "Config");
    for (const name of ["README.md", "config/old.json"]) rmSync(copied(name));
    mkdirSync(host("config"));
    for (const name of ["old", "local"]) writeFileSync(host(`config/${name}.json`), "host\n");
    expect(await copy(["README.md", "config/"])).toEqual([
      expect.stringMatching(/deleted there, and were not copied: README\.md\.$/),
      expect.stringMatching(/deleted there, and were not copied: config\/old\.json\.$/),
    ]);
    expect(existsSync(copied("README.md"))).toBe(false);
    expect(readdirSync(copied("config"))).toEqual(["local.json", "new.json"]);
    expect(read("config/local.json")).toBe("host\n");
  });

  it("replaces no copy that the agent has committed since", async () => {
    const { host, copied, read, copy } = await scene();
    await copy();
    git(copied("."), "add", "--force", "local.json");
    git(copied("."), "commit", "--quiet", "-m", "Settings");
    writeFileSync(host("local.json"), '{"key": 2}\n');
    expect(await copy(["local.json"])).toEqual([expect.stringMatching(/were not copied: local\.json/)]);
    expect(read("local.json")).toBe('{"key": 1}\n');
  });

  it("leaves alone what it knows nothing about, and adds what is missing", async () => {
    const { host, copied, read, copy } = await scene();
    mkdirSync(copied("modules/package"), { recursive: true });
    writeFileSync(copied("modules/package/index.js"), "whose?\n");
    writeFileSync(copied("local.json"), readFileSync(host("local.json")));
    expect(await copy()).toEqual([
      expect.stringMatching(/"modules".*were not copied: modules\/package\/index\.js\./),
    ]);
    expect(read("modules/package/index.js")).toBe("whose?\n");
    expect(read("modules/run")).toBe("#!/bin/sh\n");
  });

  it("starts again where an earlier copy was cut off: nothing of that is in the worktree", async () => {
    const { gitDirectory, copied, read, copy } = await scene();
    mkdirSync(join(gitDirectory, "sanddune-copying/modules"), { recursive: true });
    writeFileSync(join(gitDirectory, "sanddune-copying/modules/run"), "#!/b");
    expect(existsSync(copied("modules"))).toBe(false);
    expect(await copy()).toEqual([]);
    expect(read("modules/run")).toBe("#!/bin/sh\n");
  });
});

describe("an item", () => {
  it("has any name, and may be empty, a directory with a slash, or a link that leads nowhere", async () => {
    const { host, copied, copy } = await scene();
    mkdirSync(host("modules/empty ä\nb"));
    symlinkSync("/nowhere", host("modules/dangling"));
    expect(await copy(["modules/"])).toEqual([]);
    expect(readdirSync(copied("modules/empty ä\nb"))).toEqual([]);
    expect(readlinkSync(copied("modules/dangling"))).toBe("/nowhere");
  });

  it.each([
    "",
    "/etc",
    "~/x",
    "../x",
    "a/../../x",
    ".git/config",
    "modules/.git",
    ".",
    ".sanddune",
    "missing",
  ])("is refused before anything is copied: %j", async (item) => {
    const { host } = await scene();
    const repository = await runAtBoundary(openRepository(host(".")));
    expect(() => checkCopyItems(repository, [item])).toThrow(CopyToWorktreeError);
    expect(() => checkCopyItems(repository, ITEMS)).not.toThrow();
  });
});
