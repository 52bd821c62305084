import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  command,
  createSandbox,
  createWorktree,
  run,
  type SandduneError,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const sandbox = testIsolated();
const agent = scripted([{ commit: "Work", files: { "work.txt": "1\n" } }]);
const branch = "agent/work";

/** The entryPoints that make a worktree, and let an agent commit in it: they tell the branch that has the commit. */
const ENTRY_POINTS = {
  run: async (cwd: string) =>
    (await run({ agent, sandbox, cwd, branchStrategy: { type: "branch", branch }, prompt: "x" })).branch,
  createSandbox: async (cwd: string) => {
    await using handle = await createSandbox({ cwd, branch, sandbox });
    return (await handle.run({ agent, prompt: "x" })).branch;
  },
  createWorktree: async (cwd: string) => {
    await using handle = await createWorktree({ cwd, branchStrategy: { type: "branch", branch } });
    return (await handle.run({ agent, sandbox, prompt: "x" })).branch;
  },
  "createWorktree with merge-to-head": async (cwd: string) => {
    await using handle = await createWorktree({ cwd, branchStrategy: { type: "merge-to-head" } });
    return (await handle.run({ agent, sandbox, prompt: "x" })).branch;
  },
} as const;
type EntryPoint = keyof typeof ENTRY_POINTS;

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
/** A directory of the repository that has something in it. */
const packageIn = (cwd: string): string => {
  const path = join(cwd, "packages/a");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "file"), "");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add a package");
  return path;
};

it.each<[string, () => string, string, RegExp]>([
  ["is no repository", temporaryDirectory, "NotARepositoryError", /not inside a git repository/],
  ["has no commit yet", unborn, "UnsupportedRepositoryError", /has no commit yet.*git commit/],
  ["is bare", bare, "UnsupportedRepositoryError", /is bare.*git worktree add/],
])(
  "every entry point refuses a directory that %s, says what to do, and makes nothing",
  async (_, make, name, message) => {
    const cwd = make();
    for (const entryPoint of Object.values(ENTRY_POINTS)) {
      const error = await failureOf(entryPoint(cwd));
      expect(error.name).toBe(name);
      expect(error.message).toMatch(message);
    }
    for (const trace of [".sanddune", "sanddune", ".git/sanddune"]) {
      expect(existsSync(join(cwd, trace))).toBe(false);
    }
  },
);

describe("in a repository whose HEAD is detached", () => {
  it.each<[EntryPoint, string]>([
    ["createSandbox", branch],
    ["createWorktree with merge-to-head", "HEAD"],
  ])("%s puts the commits where it says: %s", async (entryPoint, expected) => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "--detach");
    expect(await ENTRY_POINTS[entryPoint](cwd)).toBe(expected);
    expect(git(cwd, "log", "--format=%s", expected)).toBe("Work\nInitial commit");
    expect(git(cwd, "log", "--format=%s", "main")).toBe("Initial commit");
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("from a sub-directory of a linked worktree of the user", () => {
  it.each<[EntryPoint, string]>([
    ["createWorktree", branch],
    ["createWorktree with merge-to-head", "mine"],
  ])("%s lets the agent begin in that directory, and commit to %s", async (entryPoint, expected) => {
    const cwd = temporaryRepository();
    const linked = join(temporaryDirectory(), "linked");
    git(cwd, "worktree", "add", "--quiet", "-b", "mine", linked);
    expect(await ENTRY_POINTS[entryPoint](packageIn(linked))).toBe(expected);
    expect(git(cwd, "log", "--format=%s", expected)).toBe("Work\nAdd a package\nInitial commit");
    expect(git(cwd, "show", "--format=", "--name-only", expected)).toBe("packages/a/work.txt");
    expect(leftovers(cwd)).toEqual([`worktree ${linked}`]);
  });
});

describeWith(["bubblewrap"], "from a sub-directory of a repository", () => {
  it("a relative mount mounts what is beside it", async () => {
    const cwd = packageIn(temporaryRepository());
    mkdirSync(join(cwd, "data"));
    writeFileSync(join(cwd, "data/seen"), "here\n");
    const mounts = [{ hostPath: "data", sandboxPath: "/data", readOnly: true }];
    const { stdout } = await run({
      ...{ agent: command("cat /data/seen"), sandbox: bubblewrap({ mounts }), cwd, prompt: "x" },
      branchStrategy: { type: "branch", branch },
    });
    expect(stdout).toContain("here");
  });
});
