import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSandbox, createWorktree, type SandduneError, scripted } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";

const sandbox = testIsolated();
const agent = scripted([{ commit: "Work", files: { "work.txt": "1\n" } }]);

/** The doors that make a worktree, and let an agent commit in it. */
const DOORS = {
  createSandbox: async (cwd: string, branch: string) => {
    await using handle = await createSandbox({ cwd, branch, sandbox });
    return (await handle.run({ agent, prompt: "x" })).branch;
  },
  createWorktree: async (cwd: string, branch: string) => {
    await using handle = await createWorktree({ cwd, branchStrategy: { type: "branch", branch } });
    return (await handle.run({ agent, sandbox, prompt: "x" })).branch;
  },
  "createWorktree with merge-to-head": async (cwd: string) => {
    await using handle = await createWorktree({ cwd, branchStrategy: { type: "merge-to-head" } });
    return (await handle.run({ agent, sandbox, prompt: "x" })).branch;
  },
} as const;
type Door = keyof typeof DOORS;
const NAMES = Object.keys(DOORS) as Door[];

const failureOf = (result: Promise<unknown>): Promise<SandduneError> =>
  result.then(
    () => {
      throw new Error("was expected to fail");
    },
    (error) => error,
  );

const unborn = (): string => {
  const path = temporaryDirectory();
  git(path, "init", "--quiet", "--initial-branch=main");
  return path;
};
const bare = (): string => {
  const path = temporaryDirectory();
  git(path, "clone", "--quiet", "--bare", temporaryRepository(), ".");
  return path;
};

describe.each(NAMES)("%s", (door) => {
  it.each<[string, () => string, string, RegExp]>([
    ["is no repository", temporaryDirectory, "NotARepositoryError", /not inside a git repository/],
    ["has no commit yet", unborn, "UnsupportedRepositoryError", /has no commit yet.*git commit/],
    ["is bare", bare, "UnsupportedRepositoryError", /is bare.*git worktree add/],
  ])("refuses a directory that %s, says what to do, and makes nothing", async (_, make, name, message) => {
    const cwd = make();
    const error = await failureOf(DOORS[door](cwd, "agent/work"));
    expect(error.name).toBe(name);
    expect(error.message).toMatch(message);
    for (const trace of [".sanddune", "sanddune", ".git/sanddune"]) {
      expect(existsSync(join(cwd, trace))).toBe(false);
    }
  });

  it("works in a repository whose HEAD is detached, and puts the commits where it says", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    const branch = await DOORS[door](cwd, "agent/work");
    expect(branch).toBe(door === "createWorktree with merge-to-head" ? "HEAD" : "agent/work");
    expect(git(cwd, "log", "--format=%s", branch)).toBe("Work\nInitial commit");
    expect(git(cwd, "log", "--format=%s", "main")).toBe("Initial commit");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("works from a linked worktree of the user's", async () => {
    const cwd = temporaryRepository();
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", "-b", "mine", linked);
    const branch = await DOORS[door](linked, "agent/work");
    expect(branch).toBe(door === "createWorktree with merge-to-head" ? "mine" : "agent/work");
    expect(git(cwd, "log", "--format=%s", branch)).toBe("Work\nInitial commit");
    expect(leftovers(cwd)).toEqual([linked].map((path) => `worktree ${path}`));
  });

  it("works from a sub-directory, in which the agent begins", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "packages/a"), { recursive: true });
    writeFileSync(join(cwd, "packages/a/file"), "");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add a package");
    const branch = await DOORS[door](join(cwd, "packages/a"), "agent/work");
    expect(git(cwd, "show", "--format=", "--name-only", branch)).toBe("packages/a/work.txt");
  });
});
