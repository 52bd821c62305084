import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, createSandbox, run, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../../security/support.ts";
import {
  BRANCH,
  checkpointsOf,
  createStage,
  directoryOf,
  entriesOf,
  ofType,
  record,
  sandboxFor,
} from "../recording.ts";

describe("a run that is recorded", () => {
  it("has a checkpoint for each action that changed files, and for no other", async () => {
    const cwd = temporaryRepository();
    const result = await record(cwd, [
      "echo a > a.txt",
      "ls",
      "echo b > b.txt; rm README.md",
      "git add --all && git commit --quiet --message 'All of it'",
      "echo A > a.txt",
    ]);
    expect(result.warnings).toEqual([]);
    expect(checkpointsOf(cwd, result)).toEqual({
      1: ["README.md", "a.txt"],
      3: ["a.txt", "b.txt"],
      5: ["a.txt", "b.txt"],
    });
    const entries = entriesOf(directoryOf(cwd, result));
    expect(ofType(entries, "unchanged").map(({ number }) => number)).toEqual([2, 4]);
    expect(ofType(entries, "action").map(({ number, tool }) => [number, tool])).toEqual(
      [1, 2, 3, 4, 5].map((number) => [number, "shell"]),
    );
    // Behind one another, from the commit that the run began with, and on no branch.
    const last = `refs/sanddune/${result.runId}/checkpoints/5`;
    expect(git(cwd, "log", "--first-parent", "--format=%s", `main..${last}`)).toBe(
      "Checkpoint 5\nCheckpoint 3\nCheckpoint 1",
    );
    expect(git(cwd, "show", "--format=", "--name-status", `${last}~1`)).toBe("D\tREADME.md\nA\tb.txt");
    expect(git(cwd, "for-each-ref", "--contains", last, "refs/heads")).toBe("");
  });

  it("leaves out what git ignores, what is large and untracked, and repositories of their own, and says what is missing", async () => {
    const cwd = temporaryRepository();
    const result = await record(cwd, [
      "echo secret.env > .gitignore; echo x > secret.env; echo s > small",
      "head -c 17000000 /dev/zero > ./-large; echo t > small",
      "rm ./-large; git init --quiet nested; cd nested; echo n > n; git add n; git -c user.name=n -c user.email=n commit --quiet --message N",
    ]);
    const { 1: first, 2: second } = checkpointsOf(cwd, result);
    expect(first).toEqual([".gitignore", "README.md", "small"]);
    expect(second).toEqual([".gitignore", "README.md", "small"]);
    const checkpoints = ofType(entriesOf(directoryOf(cwd, result)), "checkpoint");
    expect(checkpoints.map(({ number, isIncomplete = false }) => [number, isIncomplete])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ]);
  });

  it("has the agent's index and its branch as the agent made them", async () => {
    const cwd = temporaryRepository();
    const stage = createStage();
    const agent = scripted([
      stage.step("echo staged > s; git add s; echo more > t"),
      stage.step("git status --porcelain > status; git log --all --format=%s -- s t > log"),
      { commit: "End" },
    ]);
    const running = run({
      agent,
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
    });
    const [{ branch }] = await Promise.all([running, stage.conduct(cwd)]);
    expect(git(cwd, "show", `${branch}:status`)).toBe("A  s\n?? status\n?? t");
  });

  it("begins with files that were not committed before", async () => {
    const cwd = temporaryRepository();
    const result = await record(cwd, ["echo a > a.txt"], {
      hooks: { sandbox: { onSandboxReady: [{ command: "echo h > hook.txt" }] } },
    });
    expect(checkpointsOf(cwd, result)).toEqual({
      0: ["README.md", "hook.txt"],
      1: ["README.md", "a.txt", "hook.txt"],
    });
  });

  it("of an agent that reports no actions has one for the changes of each iteration", async () => {
    const cwd = temporaryRepository();
    const result = await run({
      agent: command("echo x >> x.txt"),
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
      maxIterations: 2,
    });
    const { runId } = result;
    expect(Object.keys(checkpointsOf(cwd, result))).toEqual(["1", "2"]);
    expect(git(cwd, "show", `refs/sanddune/${runId}/checkpoints/2:x.txt`)).toBe("x\nx");
    const actions = ofType(entriesOf(directoryOf(cwd, result)), "action");
    expect(actions.map(({ number, iteration, tool }) => [number, iteration, tool])).toEqual([
      [1, 1, undefined],
      [2, 2, undefined],
    ]);
  });

  it("lets quick actions share one, so that each is in one of them", async () => {
    const cwd = temporaryRepository();
    const steps = Array.from({ length: 12 }, (_, index) => ({ shell: `echo ${index} > file-${index}` }));
    const result = await run({
      agent: scripted(steps),
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
    });
    const entries = entriesOf(directoryOf(cwd, result));
    const seen = [...ofType(entries, "checkpoint"), ...ofType(entries, "unchanged")];
    const actions = seen.flatMap(({ from, number }) => range(from, number));
    expect(actions.sort((a, b) => a - b)).toEqual(range(1, 12));
    expect(Object.values(checkpointsOf(cwd, result)).at(-1)).toHaveLength(13);
  });

  it("keeps what it has if the agent fails in the middle of an action", async () => {
    const cwd = temporaryRepository();
    const stage = createStage();
    const agent = scripted([
      stage.step("echo a > a.txt"),
      stage.step("echo b > b.txt; kill -9 $PPID"),
      { text: "never said" },
    ]);
    const running = run({
      agent,
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
    });
    const [error] = await Promise.all([failureOf(running), stage.conduct(cwd)]);
    expect(error).toMatchObject({ name: "AgentFailedError", trajectoryPath: expect.any(String) });
    expect(checkpointsOf(cwd, error)).toEqual({
      1: ["README.md", "a.txt"],
      2: ["README.md", "a.txt", "b.txt"],
    });
    const entries = entriesOf(directoryOf(cwd, error));
    expect(ofType(entries, "action").at(-1)).toMatchObject({ number: 2, isUnfinished: true });
    expect(entries.at(-1)).toMatchObject({ type: "ended", state: "failed" });
  });

  it("keeps what it has if it is aborted", async () => {
    const cwd = temporaryRepository();
    const stage = createStage();
    const stop = new AbortController();
    const here = join(stage.directory, "here");
    const running = run({
      agent: scripted([stage.step("echo a > a.txt"), stage.step(`echo b > b.txt; touch ${here}; sleep 300`)]),
      cwd,
      sandbox: testIsolated(),
      prompt: "x",
      branchStrategy: BRANCH,
      trajectory: true,
      signal: stop.signal,
    });
    const conducting = async () => {
      await stage.conduct(cwd, 1);
      await waitFor(() => existsSync(here));
      stop.abort(new Error("enough"));
    };
    await Promise.all([expect(running).rejects.toThrow("enough"), conducting()]);
    const [runId = ""] = readdirSync(join(cwd, ".sanddune/runs")).filter((name) => name !== ".gitignore");
    expect(checkpointsOf(cwd, { runId })).toEqual({
      1: ["README.md", "a.txt"],
      2: ["README.md", "a.txt", "b.txt"],
    });
    expect(entriesOf(directoryOf(cwd, { runId })).at(-1)).toMatchObject({ type: "ended", state: "aborted" });
  });
});

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

it("runs in a lasting sandbox have checkpoints of their own", async () => {
  const cwd = temporaryRepository();
  await using sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), cwd });
  const first = await sandbox.run({
    agent: scripted([{ commit: "One", files: { "one.txt": "1\n" } }]),
    prompt: "x",
    trajectory: true,
  });
  const second = await sandbox.run({
    agent: scripted([{ shell: "echo 2 > two.txt" }]),
    prompt: "x",
    trajectory: true,
  });
  expect(checkpointsOf(cwd, first)).toEqual({ 1: ["README.md", "one.txt"] });
  expect(checkpointsOf(cwd, second)).toEqual({ 1: ["README.md", "one.txt", "two.txt"] });
});

it("a run that is not recorded leaves nothing of that kind", async () => {
  const cwd = temporaryRepository();
  const result = await run({
    agent: scripted([{ shell: "echo a > a.txt" }]),
    cwd,
    sandbox: sandboxFor("isolated", ""),
    prompt: "x",
    branchStrategy: BRANCH,
  });
  expect(result).not.toHaveProperty("trajectoryPath");
  expect(result).not.toHaveProperty("artifacts");
  expect(git(cwd, "for-each-ref", "refs/sanddune")).toBe("");
});
