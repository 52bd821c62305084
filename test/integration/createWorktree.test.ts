import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AgentFailedError,
  type CreateWorktreeOptions,
  command,
  createWorktree,
  InvalidOptionsError,
  MergeConflictError,
  type RunResult,
  type ScriptedStep,
  scripted,
  type Worktree,
  type WorktreeRunOptions,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { failureOf, STRATEGIES, shell } from "../security/support.ts";

const MAKE: Record<string, { readonly runtimes: Runtime[]; readonly make: () => SandboxProvider }> = {
  bubblewrap: { runtimes: ["bubblewrap"], make: () => bubblewrap() },
  docker: { runtimes: ["docker"], make: () => docker({ image: TEST_IMAGE }) },
  isolated: { runtimes: [], make: () => testIsolated() },
};
const make = (name: string): SandboxProvider => MAKE[name]?.make() as SandboxProvider;
const runtimesOf = (...names: string[]) => names.flatMap((name) => MAKE[name]?.runtimes ?? []);

const mergeToHead = STRATEGIES["merge-to-head"];
const worktreeIn = (cwd: string, overrides: Partial<CreateWorktreeOptions> = {}) =>
  createWorktree({ cwd, branchStrategy: STRATEGIES.branch, ...overrides });

type Overrides = Partial<Omit<WorktreeRunOptions, "prompt" | "promptFile" | "promptArgs">>;
const work = (worktree: Worktree, steps: readonly ScriptedStep[], overrides: Overrides = {}) =>
  worktree.run({ agent: scripted(steps), sandbox: testIsolated(), prompt: "Work", ...overrides });

const write = (text: string, path: string): ScriptedStep => shell(`echo ${text} > ${path}`);
const commitByHand = (cwd: string, path: string, text: string): void => {
  writeFileSync(join(cwd, path), `${text}\n`);
  git(cwd, "add", path);
  git(cwd, "commit", "--quiet", "-m", `By hand: ${path}`);
};
const subjects = (cwd: string, range: string) => git(cwd, "log", "--reverse", "--format=%s", range);
const subjectsOf = (cwd: string, { commits }: Pick<RunResult, "commits">): string[] =>
  commits.map(({ sha }) => git(cwd, "log", "-1", "--format=%s", sha));
const branches = (cwd: string): string[] => git(cwd, "branch", "--format=%(refname:short)").split("\n");

describe.each([
  ["bubblewrap", "isolated"],
  ["isolated", "bubblewrap"],
  ["docker", "docker"],
])("runs in one worktree, first in %s and then in %s,", (first, second) => {
  describeWith(runtimesOf(first, second), "one after the other,", () => {
    it("see what was committed before and what was left uncommitted, and tell of exactly their own commits", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd);
      expect(worktree).toMatchObject({ branch: "agent/work", warnings: [] });
      const one = await work(
        worktree,
        [{ commit: "One", files: { "one.txt": "1\n" } }, write("half", "open.txt")],
        {
          sandbox: make(first),
        },
      );
      const two = await work(
        worktree,
        [shell("cat one.txt open.txt > seen.txt"), { commit: "Two" }, write("rest", "rest.txt")],
        {
          sandbox: make(second),
        },
      );
      const three = await work(worktree, [shell("cat rest.txt >> seen.txt"), { commit: "Three" }], {
        sandbox: make(first),
      });

      expect([one, two, three].map((result) => subjectsOf(cwd, result))).toEqual([
        ["One"],
        ["Two"],
        ["Three"],
      ]);
      expect([one, two, three].flatMap(({ warnings }) => warnings)).toEqual([]);
      expect(git(cwd, "show", "agent/work:seen.txt")).toBe("1\nhalf\nrest");
      expect(git(worktree.worktreePath, "status", "--porcelain")).toBe("");
      expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    });

    it("land one by one with merge-to-head, with what the host has got in between", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
      const one = await work(worktree, [{ commit: "One", files: { "one.txt": "1\n" } }], {
        sandbox: make(first),
      });
      expect(one.branch).toBe("main");
      expect(readFileSync(join(cwd, "one.txt"), "utf8")).toBe("1\n");
      commitByHand(cwd, "host.txt", "host");
      const two = await work(worktree, [{ commit: "Two", files: { "two.txt": "2\n" } }], {
        sandbox: make(second),
      });

      expect([one, two].map((result) => subjectsOf(cwd, result))).toEqual([["One"], ["Two"]]);
      expect(git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n").sort()).toEqual([
        "By hand: host.txt",
        "Initial commit",
        "One",
        "Two",
      ]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
      expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
      expect(branches(cwd)).toEqual(["main"]);
      expect(leftovers(cwd)).toEqual([]);
    });
  });
});

describe("merge-to-head in a worktree", () => {
  const conflict = async (cwd: string): Promise<Worktree> => {
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    commitByHand(cwd, "both.txt", "host");
    const error = await failureOf(work(worktree, [{ commit: "Agent", files: { "both.txt": "agent\n" } }]));
    expect(error).toBeInstanceOf(MergeConflictError);
    expect(error).toMatchObject({ files: ["both.txt"], branch: worktree.branch });
    return worktree;
  };

  it("lands in the branch that the host was on when the worktree was made, wherever the host is now", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    git(cwd, "switch", "--quiet", "-c", "elsewhere");
    const result = await work(worktree, [{ commit: "One" }]);
    expect(result.branch).toBe("main");
    expect(subjects(cwd, "main")).toBe("Initial commit\nOne");
    expect(subjects(cwd, "elsewhere")).toBe("Initial commit");
    await worktree.close();
    expect(branches(cwd)).toEqual(["elsewhere", "main"]);
  });

  it("does not land what a failing agent has committed; the next run that succeeds does", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    const error = await failureOf(work(worktree, [{ commit: "Half" }, { exit: 3 }]));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error.branch).toBe(worktree.branch);
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Half");

    const next = await work(worktree, [{ commit: "Whole" }]);
    expect(subjectsOf(cwd, next)).toEqual(["Whole"]);
    expect(subjects(cwd, "main")).toBe("Initial commit\nHalf\nWhole");
    expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("keeps the temporary branch, and says so, when it is closed before everything has landed", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    await failureOf(work(worktree, [{ commit: "Half" }, { exit: 3 }]));
    const { warnings, preservedWorktreePath } = await worktree.close();
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
    expect(preservedWorktreePath).toBeUndefined();
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Half");
  });

  it("keeps the temporary branch, and says so, when the user has committed to it since the last run", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    await work(worktree, [{ commit: "One" }]);
    commitByHand(worktree.worktreePath, "mine.txt", "mine");
    const { warnings } = await worktree.close();
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("By hand: mine.txt");
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
  });

  it("goes on after a conflict that the user has resolved", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    expect(subjects(cwd, "main")).toBe("Initial commit\nBy hand: both.txt");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    git(cwd, "merge", "--quiet", "--strategy-option=theirs", worktree.branch);
    const next = await work(worktree, [{ commit: "After", files: { "after.txt": "1\n" } }]);
    expect(subjectsOf(cwd, next)).toEqual(["After"]);
    expect(readFileSync(join(cwd, "after.txt"), "utf8")).toBe("1\n");
    expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("leaves nothing behind when it is closed after a conflict that the user has resolved", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    git(cwd, "merge", "--quiet", "--strategy-option=theirs", worktree.branch);
    expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("keeps everything, and says so, when it is closed after a conflict that nobody has resolved", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    const { preservedWorktreePath, warnings } = await worktree.close();
    expect(preservedWorktreePath).toBe(worktree.worktreePath);
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Agent");
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
  });
});

describe.each(["bubblewrap", "isolated"])("an agent in a worktree, in %s,", (name) => {
  describeWith(runtimesOf(name), "begins", () => {
    it("with what the user has committed and edited there since, and does not claim it", async () => {
      const cwd = temporaryRepository();
      const worktree = await worktreeIn(cwd);
      await work(worktree, [{ commit: "One" }], { sandbox: make(name) });
      commitByHand(worktree.worktreePath, "mine.txt", "mine");
      writeFileSync(join(worktree.worktreePath, "edited.txt"), "edited\n");
      const result = await work(worktree, [shell("cat mine.txt edited.txt > seen.txt"), { commit: "Two" }], {
        sandbox: make(name),
      });
      expect(git(cwd, "show", "agent/work:seen.txt")).toBe("mine\nedited");
      expect(subjectsOf(cwd, result)).toEqual(["Two"]);
      expect(subjects(cwd, "main..agent/work")).toBe("One\nBy hand: mine.txt\nTwo");
      await worktree.close();
    });

    it.each(["branch", "merge-to-head"] as const)(
      "with a prompt whose names of branches git knows, with the %s strategy",
      async (strategy) => {
        const cwd = temporaryRepository();
        const promptFile = join(temporaryDirectory(), "prompt.md");
        writeFileSync(
          promptFile,
          "!`git rev-parse {{SOURCE_BRANCH}} {{TARGET_BRANCH}}`\n{{SOURCE_BRANCH}} {{TARGET_BRANCH}}",
        );
        const worktree = await worktreeIn(cwd, { branchStrategy: STRATEGIES[strategy] });
        commitByHand(worktree.worktreePath, "mine.txt", "mine");
        const expected = [worktree.branch, "main"].map((branch) => git(cwd, "rev-parse", branch));
        const shown = `${expected.join("\n")}\n${worktree.branch} main\n`;
        const sandbox = await worktree.createSandbox({ sandbox: make(name) });
        expect((await sandbox.run({ agent: command("cat"), promptFile })).stdout).toBe(shown);
        // With merge-to-head, that has landed the user's commit.
        const again = shown.replace(expected[1] as string, git(cwd, "rev-parse", "main"));
        const result = await worktree.run({ agent: command("cat"), sandbox: make(name), promptFile });
        expect(result.stdout).toBe(again);
        await worktree.close();
      },
    );
  });
});

it("copyToWorktree and host.onWorktreeReady happen once, before the first agent", async () => {
  const cwd = temporaryRepository();
  commitByHand(cwd, ".gitignore", "deps");
  mkdirSync(join(cwd, "deps"));
  writeFileSync(join(cwd, "deps/dep.txt"), "copied\n");
  const worktree = await worktreeIn(cwd, {
    copyToWorktree: ["deps"],
    hooks: { host: { onWorktreeReady: [{ command: "cat deps/dep.txt >> hooked.txt" }] } },
  });
  writeFileSync(join(cwd, "deps/dep.txt"), "changed since\n");
  await work(worktree, [{ commit: "One" }]);
  const sandbox = await worktree.createSandbox({ sandbox: testIsolated() });
  await sandbox.close();
  await work(worktree, [{ commit: "Two" }], { sandbox: bubblewrap() });
  expect(git(cwd, "show", "agent/work:hooked.txt")).toBe("copied");
  expect(readFileSync(join(worktree.worktreePath, "deps/dep.txt"), "utf8")).toBe("copied\n");
  await worktree.close();
});

const HOOK = [{ command: "touch hook-ran" }];

it.each<[string, Record<string, unknown>, string, RegExp]>([
  [
    "the head strategy",
    { branchStrategy: STRATEGIES.head },
    "branchStrategy",
    /no worktree.*branch.*merge-to-head/,
  ],
  ["no strategy", { branchStrategy: undefined }, "branchStrategy", /merge-to-head/],
  [
    "host.onSandboxReady",
    { hooks: { host: { onSandboxReady: HOOK } } },
    "hooks.host.onSandboxReady",
    /onWorktreeReady/,
  ],
  ["sandbox.onSandboxReady", { hooks: { sandbox: { onSandboxReady: HOOK } } }, "hooks.sandbox", /host/],
  ["a sandbox", { sandbox: testIsolated() }, "sandbox", /no such option/],
])("createWorktree() refuses %s, and creates nothing", async (_, options, option, problem) => {
  const cwd = temporaryRepository();
  const making = worktreeIn(cwd, options as Partial<CreateWorktreeOptions>);
  await expect(making).rejects.toMatchObject({ name: "InvalidOptionsError", option });
  await expect(making).rejects.toThrow(problem);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
});

it.each<[string, Record<string, unknown>, string]>([
  ["host.onWorktreeReady", { hooks: { host: { onWorktreeReady: HOOK } } }, "hooks.host.onWorktreeReady"],
  ["copyToWorktree", { copyToWorktree: ["deps"] }, "copyToWorktree"],
  ["a branch strategy", { branchStrategy: STRATEGIES.branch }, "branchStrategy"],
  ["another repository", { cwd: "/" }, "cwd"],
  ["the no-sandbox provider", { sandbox: noSandbox() }, "sandbox"],
])(
  "a run in a worktree refuses %s, which was decided when the worktree was made",
  async (_, options, option) => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const error = await failureOf(work(worktree, [{ commit: "Never" }], options as Overrides));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option });
    expect((await work(worktree, [{ commit: "One" }])).commits).toHaveLength(1);
    await worktree.close();
    expect(subjects(cwd, "main..agent/work")).toBe("One");
  },
);
