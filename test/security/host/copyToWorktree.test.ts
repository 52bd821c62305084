import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { checkCopyItems, copyToWorktree } from "../../../src/git/worktrees/copyToWorktree.ts";
import { CopyToWorktreeError, InvalidOptionsError } from "../../../src/index.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  describeInBoth,
  failureOf,
  play,
  runRefs,
  SANDBOXES,
  STRATEGIES,
  shell,
  userRefs,
  worktreesOf,
} from "../support.ts";

const branchStrategy = STRATEGIES.branch;

/** A repository with files that git ignores, and a secret beside it. */
const prepare = () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "secret"), "secret\n");
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "modules/package"), { recursive: true });
  writeFileSync(join(cwd, "modules/package/index.js"), "code\n");
  writeFileSync(join(cwd, ".git/info/exclude"), "modules\nlink\nlinked\n");
  symlinkSync(join(directory, "secret"), join(cwd, "link"));
  symlinkSync(directory, join(cwd, "linked"));
  return { cwd, secret: join(directory, "secret") };
};

it.each([
  "..",
  "../secret",
  "modules/../../secret",
  "/etc/passwd",
  "~",
  "~/.ssh",
  "",
  ".",
  "./",
  "modules/..",
  ".git",
  ".git/config",
  "modules/.git",
  "nul\0byte",
  "link",
  "linked/secret",
  "missing",
  ".sanddune",
  ".sanddune/worktrees",
  ".sanddune/runs/x",
])("%j is refused, by a typed error that names it", async (item) => {
  const { cwd } = prepare();
  const repository = await Effect.runPromise(openRepository(cwd));
  const error = thrownBy(() => checkCopyItems(repository, ["modules", item]));
  expect(error).toBeInstanceOf(CopyToWorktreeError);
  expect((error as CopyToWorktreeError).item).toBe(item);
});

it("what is refused is refused before any effect", async () => {
  const { cwd } = prepare();
  const before = userRefs(cwd);
  const options = { branchStrategy, sandbox: SANDBOXES.isolated() };
  const error = await failureOf(
    play(cwd, [{ commit: "x" }], { ...options, copyToWorktree: ["modules", "linked/secret"] }),
  );
  expect(error).toBeInstanceOf(CopyToWorktreeError);
  expect(userRefs(cwd)).toBe(before);
  expect(runRefs(cwd)).toBe("");
  expect(worktreesOf(cwd)).toEqual([cwd]);
});

describeWith(["bubblewrap"], "copying into the user's own checkout", () => {
  it("is refused with the head strategy, where there is no worktree", async () => {
    const { cwd } = prepare();
    expect(await failureOf(play(cwd, [{ commit: "x" }], { copyToWorktree: ["modules"] }))).toBeInstanceOf(
      InvalidOptionsError,
    );
  });
});

describeInBoth("a copied directory that git ignores", (name) => {
  it("arrives, and is not committed", async () => {
    const { cwd } = prepare();
    const result = await play(cwd, [shell("cat modules/package/index.js > seen.txt"), { commit: "Seen" }], {
      branchStrategy,
      copyToWorktree: ["modules"],
      sandbox: SANDBOXES[name](),
    });
    expect(git(cwd, "show", "agent/work:seen.txt")).toBe("code");
    expect(git(cwd, "ls-tree", "-r", "--name-only", "agent/work").split("\n")).toEqual([
      "README.md",
      "seen.txt",
    ]);
    expect(result.preservedWorktreePath).toBeUndefined();
  });
});

describe("links of an agent in a worktree are never written through", () => {
  const link = (target: string, ...path: string[]) => {
    mkdirSync(dirname(join(...path)), { recursive: true });
    symlinkSync(target, join(...path));
  };

  it.each<[string, string, (worktree: string, outside: string) => void]>([
    ["at the item itself", "modules", (worktree, outside) => link(outside, worktree, "modules")],
    ["above the item", "modules/package", (worktree, outside) => link(outside, worktree, "modules")],
    [
      "at a file in the item",
      "modules",
      (worktree, outside) => link(join(outside, "secret"), worktree, "modules/package/index.js"),
    ],
    [
      "at a directory in the item",
      "modules",
      (worktree, outside) => link(outside, worktree, "modules/package"),
    ],
  ])("%s", async (_, item, plant) => {
    const { cwd, secret } = prepare();
    const outside = dirname(secret);
    const worktree = join(temporaryDirectory(), "worktree");
    git(cwd, "worktree", "add", "--quiet", "--detach", worktree);
    plant(worktree, outside);
    const repository = await Effect.runPromise(openRepository(cwd));
    const place = { path: worktree, gitDirectory: git(worktree, "rev-parse", "--absolute-git-dir") };
    await runAtBoundary(copyToWorktree(repository, place, [item], 30_000)).catch((error: unknown) => {
      expect(error).toBeInstanceOf(CopyToWorktreeError);
    });
    expect(readFileSync(secret, "utf8")).toBe("secret\n");
    expect(lstatSync(join(outside, "index.js"), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("in a committed branch, by a run", async () => {
    const { cwd, secret } = prepare();
    const sandbox = SANDBOXES.isolated();
    git(cwd, "checkout", "--quiet", "-b", "agent/work");
    mkdirSync(join(cwd, "committed/package"), { recursive: true });
    symlinkSync(secret, join(cwd, "committed/package/index.js"));
    git(cwd, "add", "--force", "committed");
    git(cwd, "commit", "--quiet", "-m", "Links");
    git(cwd, "checkout", "--quiet", "main");
    mkdirSync(join(cwd, "committed/package"), { recursive: true });
    writeFileSync(join(cwd, "committed/package/index.js"), "code\n");
    await play(cwd, [{ commit: "x" }], { branchStrategy, copyToWorktree: ["committed"], sandbox }).catch(
      (error: unknown) => expect(error).toBeInstanceOf(CopyToWorktreeError),
    );
    expect(readFileSync(secret, "utf8")).toBe("secret\n");
  });
});
