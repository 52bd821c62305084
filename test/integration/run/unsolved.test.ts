import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type AgentIteration,
  type AgentProvider,
  createWorktree,
  type RunOptions,
  run,
  runAll,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const say = (text: string): ScriptedStep => ({ commit: `Say ${text}`, files: { "hello.txt": `${text}\n` } });

const options = (cwd: string, greeting: string): RunOptions => ({
  agent: scripted([say(greeting), { text: "<promise>COMPLETE</promise>" }]),
  sandbox: testIsolated(),
  cwd,
  branchStrategy: { type: "merge-to-head" },
  prompt: "Greet the world.",
  environment: greetingEnvironment(),
  until: "tests-pass",
});

const runsOf = (cwd: string) =>
  listRuns({ configDirectory: `${cwd}/.sanddune` }).map(({ state, solved }) => ({ state, solved }));

describe("a run until its tests pass", () => {
  it("whose tests do not pass is unsolved: it resolves, says so everywhere, keeps its branch and does not merge it", async () => {
    const cwd = temporaryRepository();
    const before = git(cwd, "rev-parse", "main");
    const { solved, branch, commits, warnings, logFilePath = "" } = await run(options(cwd, "goodbye"));
    expect(solved).toBe(false);
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    expect(branch).toMatch(/^sanddune\//);
    expect(git(cwd, "rev-parse", branch)).toBe(commits.at(-1)?.sha);
    expect(warnings).toEqual([
      expect.stringMatching(
        new RegExp(`1 of 2 tests pass\\..*not merged into main.*git merge '?${branch}'?`, "s"),
      ),
    ]);
    expect(runsOf(cwd)).toEqual([{ state: "unsolved", solved: false }]);
    expect(readFileSync(logFilePath, "utf8")).toMatch(/The run has ended, but some of its tests fail\./);
  });

  it("whose tests pass is solved, and merged", async () => {
    const cwd = temporaryRepository();
    const { solved, branch, warnings } = await run(options(cwd, "hello"));
    expect({ solved, branch, warnings }).toEqual({ solved: true, branch: "main", warnings: [] });
    expect(git(cwd, "show", "main:hello.txt")).toBe("hello");
    expect(runsOf(cwd)).toEqual([{ state: "succeeded", solved: true }]);
  });

  it("is unsolved if its tests could not be run, with the reason", async () => {
    const cwd = temporaryRepository();
    const environment = greetingEnvironment({
      "setup.sh": `if [ -e ${cwd}/.git/once ]; then echo the mirror is down; exit 3; fi; touch ${cwd}/.git/once`,
    });
    const { solved, warnings } = await run({ ...options(cwd, "hello"), environment });
    expect(solved).toBe(false);
    expect(warnings).toEqual([expect.stringMatching(/0 of 0 tests pass\..*exit code 3/s)]);
    expect(runsOf(cwd)).toEqual([{ state: "unsolved", solved: false }]);
  });

  it("tells whether it was solved by its error, if it fails", async () => {
    const cwd = temporaryRepository();
    const agent = scripted(({ iteration }: AgentIteration) =>
      iteration === 1 ? [say("no")] : [{ exit: 3 }],
    );
    await expect(run({ ...options(cwd, ""), agent, maxIterations: 2 })).rejects.toMatchObject({
      name: "AgentFailedError",
      solved: false,
    });
    const usage = { inputTokens: 9, outputTokens: 9, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 };
    const spending = `printf '\\036sanddune-scripted %s\\n' '${JSON.stringify({ type: "usage", usage })}'`;
    const spent: AgentProvider = { ...scripted([say("no"), { shell: spending }]), reportsUsage: "perCall" };
    await expect(
      run({ ...options(cwd, ""), agent: spent, maxIterations: 2, maxTokens: 5 }),
    ).rejects.toMatchObject({ name: "BudgetExceededError", solved: false });
    expect(git(cwd, "log", "--format=%s", "main")).toBe("Initial commit");
    expect(runsOf(cwd)).toEqual([
      { state: "failed", solved: false },
      { state: "failed", solved: false },
    ]);
  });

  it("that is not to continue until its tests pass is neither solved nor unsolved", async () => {
    const cwd = temporaryRepository();
    const { until, ...others } = options(cwd, "goodbye");
    const result = await run(others as RunOptions);
    expect(result.iterations).toMatchObject([{ tests: { passed: 1, failed: 1 } }]);
    expect("solved" in result).toBe(false);
    expect(result.branch).toBe("main");
    expect(runsOf(cwd)).toEqual([{ state: "succeeded", solved: undefined }]);
  });

  it("is unsolved in a worktree, too, which is not merged until a later run solves it", async () => {
    const cwd = temporaryRepository();
    const { branchStrategy, cwd: _, ...work } = options(cwd, "goodbye");
    await using worktree = await createWorktree({ cwd, branchStrategy: { type: "merge-to-head" } });
    const first = await worktree.run(work as Parameters<typeof worktree.run>[0]);
    expect(first).toMatchObject({ solved: false, branch: worktree.branch });
    expect(git(cwd, "log", "--format=%s", "main")).toBe("Initial commit");
    const second = await worktree.run({
      ...(work as Parameters<typeof worktree.run>[0]),
      agent: scripted([say("hello")]),
    });
    expect(second).toMatchObject({ solved: true, branch: "main" });
    expect(git(cwd, "log", "--format=%s", "main").split("\n").slice(-3)).toEqual([
      ...["Say hello", "Say goodbye", "Initial commit"],
    ]);
  });

  it("is counted by a fleet neither as succeeded nor as failed", async () => {
    const cwd = temporaryRepository();
    const { outcomes, ...counts } = await runAll([options(cwd, "hello"), options(cwd, "goodbye")]);
    expect(counts).toMatchObject({ succeeded: 1, unsolved: 1, failed: 0, aborted: 0, notStarted: 0 });
    expect(outcomes).toMatchObject([
      { state: "succeeded", solved: true },
      { state: "unsolved", solved: false },
    ]);
  });
});
