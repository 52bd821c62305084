import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import {
  findNestedRepositories,
  type NestedSearch,
  nestedPaths,
} from "../../../src/git/nestedRepositories/findNestedRepositories.ts";
import { stillPresent, toJournalEntries } from "../../../src/git/nestedRepositories/journalEntries.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles } from "../commitFiles.ts";

const find = (checkoutPath: string, search: Partial<NestedSearch> = {}) =>
  runAtBoundary(findNestedRepositories({ checkoutPath, skipsConfigDirectory: true, ...search }));

/** The paths that were found, relative to the checkout. */
const found = async (cwd: string, search: Partial<NestedSearch> = {}): Promise<string[]> =>
  [...(await find(cwd, search)).keys()]
    .map((path) => relative(cwd, Buffer.from(path, "latin1").toString("utf8")))
    .sort();

describe("repositories below the top of a checkout are found:", () => {
  it("none in a plain checkout, whose own .git does not count", async () => {
    expect(await found(temporaryRepository())).toEqual([]);
  });

  it("directories, files and links of that name, whatever they hold", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { "directory/.git/x": "", "file/.git": "gitdir: elsewhere\n", "link/x": "" });
    symlinkSync("/nowhere", join(cwd, "link/.git"));
    expect(await found(cwd)).toEqual(["directory/.git", "file/.git", "link/.git"]);
  });

  it("under names that other file systems take for it, in ignored and in hidden directories", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/info/exclude"), "modules\n");
    writeFiles(cwd, { "modules/a/.git/x": "", ".hidden/.Git": "", "upper/.GIT": "" });
    expect(await found(cwd)).toEqual([".hidden/.Git", "modules/a/.git", "upper/.GIT"]);
  });

  it("in directories with any name", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { "new\nline/.git": "", "ä/.git": "", "-n/.git": "", "*/.git": "" });
    expect(await found(cwd)).toEqual(["*/.git", "-n/.git", "new\nline/.git", "ä/.git"]);
    execFileSync("sh", ["-c", "mkdir \"$(printf '\\377')\"; touch \"$(printf '\\377')/.git\""], { cwd });
    expect(await find(cwd)).toHaveProperty("size", 5);
  });

  it("not through links that lead out of the checkout", async () => {
    const cwd = temporaryRepository();
    symlinkSync(temporaryRepository(), join(cwd, "outside"));
    expect(await found(cwd)).toEqual([]);
  });

  it("not in the config directory, which holds worktrees, unless it is looked at", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { ".sanddune/worktrees/x/.git": "" });
    expect(await found(cwd)).toEqual([]);
    expect(await found(cwd, { skipsConfigDirectory: false })).toEqual([".sanddune/worktrees/x/.git"]);
  });

  it("submodules by their names, also where the search does not look", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { ".sanddune/lib/.git": "gitdir: x\n" });
    expect(await found(cwd, { submodulePaths: [".sanddune/lib", "missing"] })).toEqual([
      ".sanddune/lib/.git",
    ]);
  });

  it("pipes in the place of files that git reads, and no other pipes", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "sub"));
    execFileSync("mkfifo", ["sub/.gitignore", ".gitattributes", "pipe"], { cwd });
    expect(await found(cwd)).toEqual([".gitattributes", "sub/.gitignore"]);
  });
});

describe("bare repositories", () => {
  const bare = {
    "sub/HEAD": "ref: refs/heads/main\n",
    "sub/objects/x": "",
    "sub/refs/x": "",
    "sub/config": "",
  };

  it("are found by the names that git looks for, not at the top", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { ...bare, HEAD: "", "objects/x": "", "refs/x": "", "other/HEAD": "" });
    expect(await found(cwd)).toEqual(["sub/HEAD"]);
  });

  it("of a commit that is not trusted are not the user's", async () => {
    const cwd = temporaryRepository();
    const trustedCommit = git(cwd, "rev-parse", "HEAD");
    const baseCommit = commitFiles(cwd, bare);
    expect(await found(cwd, { trustedCommit, baseCommit })).toEqual([]);
    expect(await found(cwd, { trustedCommit: baseCommit, baseCommit })).toEqual(["sub/HEAD"]);
  });
});

it("only repositories whose paths are text are mounted", async () => {
  const cwd = temporaryRepository();
  writeFiles(cwd, { "ä/.git": "", "sub/HEAD": "", "sub/objects/x": "", "sub/refs/x": "" });
  execFileSync("sh", ["-c", "mkdir \"$(printf '\\377')\"; touch \"$(printf '\\377')/.git\""], { cwd });
  expect(nestedPaths(await find(cwd))).toEqual([join(cwd, "ä/.git")]);
});

describe("repositories that a journal has", () => {
  it("are known again by their identity, not by their path", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { "a/.git": "", "b/.git": "" });
    const before = toJournalEntries(cwd, await find(cwd));
    expect(before.map(([path]) => path).sort()).toEqual(["a/.git", "b/.git"]);
    execFileSync("sh", ["-c", "mv a c; rm b/.git; touch other b/.git"], { cwd });
    const after = stillPresent(await find(cwd), before, { isSameBoot: true });
    expect([...after.keys()].map((path) => relative(cwd, path))).toContain("c/.git");
  });

  it("are known after a reboot by the number of the file alone", () => {
    const now = new Map([["/x/.git", "9:42"]]);
    const before = [["x/.git", "7:42"]] as const;
    expect(stillPresent(now, before, { isSameBoot: false }).size).toBe(1);
    expect(stillPresent(now, before, { isSameBoot: true }).size).toBe(0);
  });

  it("do not include what the user has put elsewhere since", () => {
    const elsewhere = new Map([[join(temporaryDirectory(), ".git"), "7:43"]]);
    expect(stillPresent(elsewhere, [["x/.git", "7:42"]], { isSameBoot: true }).size).toBe(0);
  });
});
