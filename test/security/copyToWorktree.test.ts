import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CopyToWorktreeError, InvalidOptionsError } from "../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { failureOf, play, runRefs, SANDBOXES, STRATEGIES, shell, userRefs, worktreesOf } from "./support.ts";

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
])("%j is refused before any effect, by a typed error that names it", async (item) => {
  const { cwd } = prepare();
  const before = userRefs(cwd);
  const error = await failureOf(
    play(cwd, [{ commit: "x" }], { branchStrategy, copyToWorktree: ["modules", item] }),
  );
  expect(error).toBeInstanceOf(CopyToWorktreeError);
  expect((error as CopyToWorktreeError).item).toBe(item);
  expect(userRefs(cwd)).toBe(before);
  expect(runRefs(cwd)).toBe("");
  expect(worktreesOf(cwd)).toEqual([cwd]);
});

it("is refused with the head strategy, where there is no worktree", async () => {
  const { cwd } = prepare();
  expect(await failureOf(play(cwd, [{ commit: "x" }], { copyToWorktree: ["modules"] }))).toBeInstanceOf(
    InvalidOptionsError,
  );
});

describe.each(["bubblewrap", "isolated"] as const)("on %s", (name) => {
  it("an ignored directory arrives, and is not committed", async () => {
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

describe("links of an agent's are never written through", () => {
  const plants = {
    "at the item itself": (target: string) => `rm -rf modules; ln -s ${target} modules`,
    "above the item": (target: string) => `rm -rf modules; ln -s ${target} modules`,
    "at a file in the item": (target: string) =>
      `rm -f modules/package/index.js; mkdir -p modules/package; ln -s ${target}/secret modules/package/index.js`,
    "at a directory in the item": (target: string) =>
      `rm -rf modules/package; mkdir -p modules; ln -s ${target} modules/package`,
  };

  it.each(Object.entries(plants))("%s, in a kept worktree", async (where, plant) => {
    const { cwd, secret } = prepare();
    const outside = join(secret, "..");
    const item = where === "above the item" ? "modules/package" : "modules";
    await play(cwd, [shell(plant(outside), "echo open > open.txt")], { branchStrategy });
    await play(cwd, [{ commit: "x" }], { branchStrategy, copyToWorktree: [item] }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(CopyToWorktreeError);
    });
    expect(readFileSync(secret, "utf8")).toBe("secret\n");
    expect(lstatSync(join(outside, "index.js"), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("in a committed branch", async () => {
    const { cwd, secret } = prepare();
    await play(
      cwd,
      [
        shell(plants["at a file in the item"](join(secret, "..")), "git add --force modules"),
        { commit: "Links" },
      ],
      { branchStrategy },
    );
    await play(cwd, [{ commit: "x" }], { branchStrategy, copyToWorktree: ["modules"] }).catch(
      (error: unknown) => {
        expect(error).toBeInstanceOf(CopyToWorktreeError);
      },
    );
    expect(readFileSync(secret, "utf8")).toBe("secret\n");
  });
});
