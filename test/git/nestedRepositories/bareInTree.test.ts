import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { findBareRepositories } from "../../../src/git/nestedRepositories/bareInTree.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const HEAD = "ref: refs/heads/main\n";

const write = (cwd: string, path: string, content = ""): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), path.endsWith("/HEAD") ? HEAD : content);
};

/** Commits what a script makes, and gives the commit. */
const commit = (cwd: string, script: string): string => {
  execFileSync("sh", ["-ec", script], { cwd, stdio: "pipe" });
  git(cwd, "add", "--all", "--force", "--", ".", ":!untracked");
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Change");
  return git(cwd, "rev-parse", "HEAD");
};

const find = (cwd: string, from: string, to: string): Promise<string[]> => {
  const changed = git(cwd, "diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to).split("\0");
  return Effect.runPromise(findBareRepositories(cwd, from, to, changed));
};

/** What git itself takes the directory for. */
const gitDirectoryOf = (path: string): string => git(path, "rev-parse", "--git-dir");

const MAKE = (directory: string) =>
  `mkdir -p ${directory}/objects ${directory}/refs; echo 'ref: refs/heads/main' > ${directory}/HEAD; echo > ${directory}/objects/x; echo > ${directory}/refs/x`;

const BARE: [string, before: string, change: string, directory: string][] = [
  ["all of it", ":", MAKE("pkg"), "pkg"],
  ["one that is far down", ":", MAKE("a/b/c/d/e/pkg.git"), "a/b/c/d/e/pkg.git"],
  ["a HEAD beside what was there", `${MAKE("pkg")}; rm pkg/HEAD`, MAKE("pkg"), "pkg"],
  ["refs beside what was there", `${MAKE("pkg")}; rm -r pkg/refs`, MAKE("pkg"), "pkg"],
  [
    "a directory that was renamed",
    `${MAKE("pkg")}; mv pkg/HEAD pkg/head.txt`,
    "mv pkg/head.txt pkg/HEAD",
    "pkg",
  ],
  [
    "links in the place of directories",
    ":",
    "mkdir pkg other; echo > other/x; echo 'ref: refs/heads/x' > pkg/HEAD; ln -s ../other pkg/objects; ln -s ../other pkg/refs",
    "pkg",
  ],
  [
    "programs in the place of directories",
    ":",
    "mkdir pkg; ln -s refs/heads/main pkg/HEAD; for name in objects refs; do echo > pkg/$name; chmod +x pkg/$name; done",
    "pkg",
  ],
  [
    "a commondir that leads elsewhere",
    ":",
    "mkdir -p pkg c/objects c/refs; echo > c/objects/x; echo > c/refs/x; echo 'ref: refs/heads/x' > pkg/HEAD; echo ../c > pkg/commondir",
    "pkg",
  ],
  [
    "a file beside what git ignores in the checkout",
    "echo '*.ignored' > .gitignore; mkdir -p untracked/pkg/objects untracked/pkg/refs",
    "echo 'ref: refs/heads/x' > untracked/pkg/HEAD; git add --force untracked/pkg/HEAD",
    "untracked/pkg",
  ],
];

describe("a change that makes a bare repository of a directory is found:", () => {
  it.each(BARE)("%s", async (_, before, change, directory) => {
    const cwd = temporaryRepository();
    const from = commit(cwd, before);
    const to = commit(cwd, change);
    expect(gitDirectoryOf(join(cwd, directory))).toBe(".");
    expect(await find(cwd, from, to)).toEqual([directory]);
  });

  it("names that only some file systems take for the same", async () => {
    const cwd = temporaryRepository();
    const from = git(cwd, "rev-parse", "HEAD");
    for (const path of ["Pkg/head", "pkg/OBJECTS/x", "PKG/Ref\u200bs/x"]) write(cwd, path);
    expect(await find(cwd, from, commit(cwd, ":"))).toEqual(["Pkg"]);
  });

  it("a file beside what is in the checkout alone, in a directory whose name is no text", async () => {
    const cwd = temporaryRepository();
    const from = git(cwd, "rev-parse", "HEAD");
    const directory = "d=$(printf 'a/p\\377'); mkdir -p $d/objects $d/refs";
    const to = commit(cwd, `${directory}; echo 'ref: refs/heads/x' > $d/HEAD`);
    expect(await find(cwd, from, to)).toEqual(["a/p\ufffd"]);
  });

  it("a submodule in the place of a directory", async () => {
    const cwd = temporaryRepository();
    const from = git(cwd, "rev-parse", "HEAD");
    const link = `git update-index --add --cacheinfo 160000,${from},pkg/objects`;
    const to = commit(
      cwd,
      `mkdir -p pkg/refs pkg/objects; echo 'ref: refs/heads/x' > pkg/HEAD; echo > pkg/refs/x`,
    );
    execFileSync("sh", ["-ec", `${link}; git commit --quiet -m Link`], { cwd });
    expect(gitDirectoryOf(join(cwd, "pkg"))).toBe(".");
    expect(await find(cwd, to, git(cwd, "rev-parse", "HEAD"))).toEqual(["pkg"]);
    expect(await find(cwd, from, git(cwd, "rev-parse", "HEAD"))).toEqual(["pkg"]);
  });

  it("one that was completed in several commits", async () => {
    const cwd = temporaryRepository();
    const from = git(cwd, "rev-parse", "HEAD");
    commit(cwd, "mkdir -p pkg/objects; echo > pkg/objects/x");
    commit(cwd, "mkdir -p pkg/refs; echo > pkg/refs/x");
    expect(await find(cwd, from, commit(cwd, MAKE("pkg")))).toEqual(["pkg"]);
  });
});

const ARMED: [string, string][] = [
  ["its configuration", "echo '[core]' > pkg/config"],
  ["its hooks", "mkdir pkg/hooks; echo > pkg/hooks/post-index-change"],
  ["the place of its configuration", "echo ../other > pkg/commondir"],
  ["the configuration of a worktree", "echo '[core]' > pkg/config.worktree"],
];

it.each(ARMED)("a change of %s is found in a bare repository that was there before", async (_, change) => {
  const cwd = temporaryRepository();
  const from = commit(cwd, MAKE("pkg"));
  expect(await find(cwd, from, commit(cwd, change))).toEqual(["pkg"]);
});

const HARMLESS: [string, before: string, change: string][] = [
  ["a HEAD alone", ":", "mkdir pkg; echo 'ref: refs/heads/x' > pkg/HEAD"],
  ["objects and refs alone", ":", `${MAKE("pkg")}; rm pkg/HEAD`],
  [
    "HEAD, objects and refs in different directories",
    ":",
    "mkdir -p a/objects b/refs; echo > a/objects/x; echo > b/refs/x; echo > a/HEAD",
  ],
  [
    "what git finds .git before",
    ":",
    "mkdir objects refs; echo > objects/x; echo > refs/x; echo 'ref: refs/heads/x' > HEAD",
  ],
  ["new objects of a bare repository that was there before", MAKE("pkg"), "echo > pkg/objects/y"],
  ["the removal of a bare repository", `${MAKE("pkg")}; echo > pkg/config`, "rm -r pkg"],
  ["other files beside a bare repository", MAKE("pkg"), "echo > config; echo > pkg/README"],
];

it.each(HARMLESS)("%s is not found", async (_, before, change) => {
  const cwd = temporaryRepository();
  const from = commit(cwd, before);
  expect(await find(cwd, from, commit(cwd, change))).toEqual([]);
});
