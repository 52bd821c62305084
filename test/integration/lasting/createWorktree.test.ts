import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AgentFailedError,
  type CreateWorktreeOptions,
  command,
  createWorktree,
  MergeConflictError,
  type RunResult,
  type ScriptedStep,
  scripted,
  type Worktree,
  type WorktreeRunOptions,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, STRATEGIES, shell } from "../../security/support.ts";

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

describeWith(["bubblewrap"], "runs in one worktree, in whatever sandbox, one after the other,", () => {
  it("see what was committed before and what was left uncommitted, and tell of exactly their own commits", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    expect(worktree).toMatchObject({ branch: "agent/work", warnings: [] });
    const one = await work(
      worktree,
      [{ commit: "One", files: { "one.txt": "1\n" } }, write("half", "open.txt")],
      { sandbox: bubblewrap() },
    );
    const two = await work(worktree, [
      shell("cat one.txt open.txt > seen.txt"),
      { commit: "Two" },
      write("rest", "rest.txt"),
    ]);
    const three = await work(worktree, [shell("cat rest.txt >> seen.txt"), { commit: "Three" }], {
      sandbox: bubblewrap(),
    });

    expect([one, two, three].map((result) => subjectsOf(cwd, result))).toEqual([["One"], ["Two"], ["Three"]]);
    expect([one, two, three].flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(git(cwd, "show", "agent/work:seen.txt")).toBe("1\nhalf\nrest");
    expect(git(worktree.worktreePath, "status", "--porcelain")).toBe("");
    const commits = [one, two, three].flatMap((result) => result.commits);
    expect(await worktree.close()).toEqual({ commits, warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("runs in one worktree with merge-to-head", () => {
  const conflict = async (cwd: string): Promise<Worktree> => {
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    commitByHand(cwd, "both.txt", "host");
    const error = await failureOf(work(worktree, [{ commit: "Agent", files: { "both.txt": "agent\n" } }]));
    expect(error).toBeInstanceOf(MergeConflictError);
    expect(error).toMatchObject({ files: ["both.txt"], branch: worktree.branch });
    return worktree;
  };

  it("land one by one, with what the host has got in between, in the branch that it was on when the worktree was made", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    const one = await work(worktree, [{ commit: "One", files: { "one.txt": "1\n" } }]);
    expect(one.branch).toBe("main");
    expect(readFileSync(join(cwd, "one.txt"), "utf8")).toBe("1\n");
    commitByHand(cwd, "host.txt", "host");
    git(cwd, "switch", "--quiet", "-c", "elsewhere");
    const two = await work(worktree, [{ commit: "Two", files: { "two.txt": "2\n" } }]);

    expect(two.branch).toBe("main");
    expect([one, two].map((result) => subjectsOf(cwd, result))).toEqual([["One"], ["Two"]]);
    expect(git(cwd, "log", "--no-merges", "--format=%s", "main").split("\n").sort()).toEqual([
      "By hand: host.txt",
      "Initial commit",
      "One",
      "Two",
    ]);
    expect(subjects(cwd, "elsewhere")).toBe("Initial commit\nOne\nBy hand: host.txt");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    expect(branches(cwd)).toEqual(["elsewhere", "main"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("do not land what a failing agent has committed; the next one that succeeds does; what the user has committed since then is kept", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    const error = await failureOf(work(worktree, [{ commit: "Half" }, { exit: 3 }]));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error.branch).toBe(worktree.branch);
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Half");

    const next = await work(worktree, [{ commit: "Whole" }]);
    expect(subjectsOf(cwd, next)).toEqual(["Whole"]);
    expect(subjects(cwd, "main")).toBe("Initial commit\nHalf\nWhole");

    commitByHand(worktree.worktreePath, "mine.txt", "mine");
    const { warnings } = await worktree.close();
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("By hand: mine.txt");
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
  });

  it("leave the temporary branch, and close() says so, when it comes before everything has landed", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd, { branchStrategy: mergeToHead });
    await failureOf(work(worktree, [{ commit: "Half" }, { exit: 3 }]));
    const { warnings, preservedWorktreePath } = await worktree.close();
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
    expect(preservedWorktreePath).toBeUndefined();
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Half");
  });

  it("continue after a conflict that the user has resolved", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    expect(subjects(cwd, "main")).toBe("Initial commit\nBy hand: both.txt");
    expect(git(cwd, "status", "--porcelain")).toBe("");
    git(cwd, "merge", "--quiet", "--strategy-option=theirs", worktree.branch);
    const next = await work(worktree, [{ commit: "After", files: { "after.txt": "1\n" } }]);
    expect(subjectsOf(cwd, next)).toEqual(["After"]);
    expect(readFileSync(join(cwd, "after.txt"), "utf8")).toBe("1\n");
    expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("leave nothing behind when the worktree is closed after a conflict that the user has resolved", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    git(cwd, "merge", "--quiet", "--strategy-option=theirs", worktree.branch);
    expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("leave everything, and close() says so, after an unresolved conflict", async () => {
    const cwd = temporaryRepository();
    const worktree = await conflict(cwd);
    const { preservedWorktreePath, warnings } = await worktree.close();
    expect(preservedWorktreePath).toBe(worktree.worktreePath);
    expect(subjects(cwd, `main..${worktree.branch}`)).toBe("Agent");
    expect(warnings).toEqual([expect.stringContaining(worktree.branch)]);
  });
});

const BEGINNINGS: [string, Runtime[], () => SandboxProvider, "branch" | "merge-to-head"][] = [
  ["bubblewrap", ["bubblewrap"], () => bubblewrap(), "merge-to-head"],
  ["an isolated sandbox", [], () => testIsolated(), "branch"],
];
for (const [name, runtimes, make, strategy] of BEGINNINGS) {
  describeWith(runtimes, `an agent in a worktree, in ${name}, with ${strategy}, begins`, () => {
    it("with what the user has committed and edited there, which it does not claim, and with names of branches that git knows", async () => {
      const cwd = temporaryRepository();
      const promptFile = join(temporaryDirectory(), "prompt.md");
      writeFileSync(
        promptFile,
        "!`git rev-parse {{SOURCE_BRANCH}} {{TARGET_BRANCH}}`\n{{SOURCE_BRANCH}} {{TARGET_BRANCH}}",
      );
      const worktree = await worktreeIn(cwd, { branchStrategy: STRATEGIES[strategy] });
      commitByHand(worktree.worktreePath, "mine.txt", "mine");
      writeFileSync(join(worktree.worktreePath, "edited.txt"), "edited\n");
      const shown = () => {
        const tips = [worktree.branch, "main"].map((branch) => git(cwd, "rev-parse", branch));
        return `${tips.join("\n")}\n${worktree.branch} main\n`;
      };
      const first = shown();
      const agent = command("cat; echo; cat mine.txt edited.txt");
      const sandbox = await worktree.createSandbox({ sandbox: make() });
      expect((await sandbox.run({ agent, promptFile })).stdout).toBe(`${first}mine\nedited\n`);
      await sandbox.close();

      commitByHand(worktree.worktreePath, "again.txt", "again");
      const second = shown();
      const committing = command("cat; git add edited.txt; git commit --quiet -m Two");
      const result = await worktree.run({ agent: committing, sandbox: make(), promptFile });
      expect(result.stdout).toBe(second);
      expect(subjectsOf(cwd, result)).toEqual(["Two"]);
      expect(subjects(cwd, result.branch).split("\n").slice(1)).toEqual([
        "By hand: mine.txt",
        "By hand: again.txt",
        "Two",
      ]);
      expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
    });
  });
}

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
  const sandbox = await worktree.createSandbox({ sandbox: testIsolated() });
  await sandbox.close();
  await work(worktree, [{ commit: "One" }]);
  expect(git(cwd, "show", "agent/work:hooked.txt")).toBe("copied");
  expect(readFileSync(join(worktree.worktreePath, "deps/dep.txt"), "utf8")).toBe("copied\n");
  await worktree.close();
});
