import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { begun, entry } from "../../runs/journal/journals.ts";
import { openSandbox, openWorktree, playIn } from "../../security/lasting/lasting.ts";
import { play } from "../../security/support.ts";
import { runCli } from "../callCli.ts";
import { saysText, standInAgent, succeeds } from "../run/standInAgent.ts";
import { deadRun, ps, sandboxFlags } from "./hangingRuns.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

const shown = async (cwd: string, ...flags: string[]): Promise<string> =>
  (await runCli(["ps", ...flags], { cwd })).stdout;

describe("sanddune ps", () => {
  it("says so when there are no runs, and makes nothing", async () => {
    const cwd = temporaryRepository();
    expect(await shown(cwd)).toBe("There are no runs in this repository yet.\n");
    expect(await ps(cwd)).toEqual([]);
    expect(git(cwd, "status", "--porcelain", "--ignored")).toBe("");
  });

  it("outside of a repository says that there is none", async () => {
    const { exitCode, stdout, stderr } = await runCli(["ps"], { cwd: temporaryDirectory() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .*git/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("does not stumble over directories and files that are no runs", async () => {
    const cwd = temporaryRepository();
    const runs = join(cwd, ".sanddune/runs");
    mkdirSync(join(runs, "empty"), { recursive: true });
    mkdirSync(join(runs, "torn"));
    writeFileSync(join(runs, "torn/journal.jsonl"), '{"at":"2030-01-01T00:00:00.000Z","type":"beg');
    mkdirSync(join(runs, "directory/journal.jsonl"), { recursive: true });
    writeFileSync(join(runs, "file"), "");
    expect(await ps(cwd)).toEqual([]);
  });

  it("with --watch wants a terminal, and does not go with --json", async () => {
    const cwd = temporaryRepository();
    expect(await runCli(["ps", "--watch"], { cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--watch needs a terminal"),
    });
    expect(await runCli(["ps", "--watch", "--json"], { cwd })).toMatchObject({ exitCode: 2 });
  });
});

describeWith(["bubblewrap"], "sanddune ps tells runs apart:", () => {
  it("running, succeeded, failed, aborted, dead", async () => {
    const { cwd } = await deadRun({ flags: ["--branch", "dead"] });
    const aborted = await playHangingRun(cwd, { branch: "aborted" });
    aborted.abort();
    await aborted.ended;
    await playHangingRun(cwd, { branch: "running" });
    await play(cwd, [{ commit: "One" }], { branchStrategy: { type: "branch", branch: "succeeded" } });
    const failing = ["--agent-command", "exit 3", ...sandboxFlags("bubblewrap")];
    await runCli(["run", ...failing, "--branch", "failed", "--prompt", "Work"], { cwd });
    const told = await ps(cwd);
    for (const { branch, state } of told) expect(state).toBe(branch);
    expect(told).toHaveLength(5);
    expect(told.find(({ state }) => state === "failed")?.["problem"]).toContain("3");
    const lines = await shown(cwd);
    for (const { runId, state } of told) expect(lines).toMatch(new RegExp(`${runId} +${state} `));
    expect(lines).toMatch(/^A run is dead. To list the leftovers: .*sanddune clean$/m);
  });

  it("sandboxes and worktrees that last, and the calls within them", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd, { branch: "in-sandbox" });
    await playIn(sandbox, { commit: "One" });
    const worktree = await openWorktree(cwd);
    const told = await ps(cwd);
    const lasting = told.find(({ kind }) => kind === "sandbox");
    expect(told).toMatchObject([
      { kind: "worktree", state: "running" },
      { kind: "run", state: "succeeded", within: lasting?.runId, agent: "scripted", commits: [{}] },
      { kind: "sandbox", state: "running", branch: "in-sandbox", sandbox: "bubblewrap" },
    ]);
    await Promise.all([sandbox.close(), worktree.close()]);
    expect((await ps(cwd)).map(({ state }) => state)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  it("from a sub-directory and from another checkout of the repository", async () => {
    const cwd = temporaryRepository();
    const { runId } = await play(cwd, [{ commit: "One" }]);
    mkdirSync(join(cwd, "sub"));
    const checkout = join(temporaryDirectory(), "checkout");
    git(cwd, "worktree", "add", "--quiet", checkout);
    for (const place of [join(cwd, "sub"), checkout]) expect(await ps(place)).toMatchObject([{ runId }]);
    const elsewhere = await runCli(["ps", "--cwd", checkout, "--json"], { cwd: "/" });
    expect(JSON.parse(elsewhere.stdout)).toMatchObject([{ runId }]);
  });
});

describeWith(["bubblewrap"], "sanddune ps --json", () => {
  it("prints all data of a run as JSON, including tokens", async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 3000,
      output_tokens: 40,
    };
    const flags = standInAgent([commits("work"), saysText("Done", usage), succeeds].join("\n"));
    const cwd = temporaryRepository();
    const run = await runCli(
      ["run", ...flags, "--branch", "b", "--name", "nightly", "--prompt", "Work", "--json"],
      { cwd, env: { ANTHROPIC_API_KEY: "fake" } },
    );
    expect(run).toMatchObject({ exitCode: 0 });
    const { runId, logFilePath } = JSON.parse(run.stdout);
    expect(await ps(cwd)).toEqual([
      {
        runId,
        runDirectory: join(cwd, ".sanddune/runs", runId),
        state: "succeeded",
        kind: "run",
        name: "nightly",
        agent: "claude-code",
        sandbox: "bubblewrap",
        strategy: "branch",
        branch: "b",
        targetBranch: "main",
        begunAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        endedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        iterations: 1,
        commits: [{ sha: git(cwd, "rev-parse", "b") }],
        usage: {
          inputTokens: 10,
          cacheCreationInputTokens: 200,
          cacheReadInputTokens: 3000,
          outputTokens: 40,
        },
        tokens: 3250,
        logFilePath,
        pid: expect.any(Number),
        host: hostname(),
      },
    ]);
    expect(await shown(cwd)).toContain("3.3k");
  });
});

describe("sanddune ps shows what is recent:", () => {
  const runIdOf = (second: number): string => `20300102-0304${String(second).padStart(2, "0")}-abcdef`;

  /** A run that was over, or whose process was killed, at that second. */
  const plantRun = (cwd: string, second: number, isDead: boolean): void => {
    const runId = runIdOf(second);
    const directory = join(cwd, ".sanddune/runs", runId);
    mkdirSync(directory, { recursive: true });
    const lines = isDead
      ? [begun({ runId, owner: { ...ownIdentity(), startTime: "1" } })]
      : [begun({ runId }), entry("ended", { state: "succeeded" })];
    writeFileSync(
      join(directory, "journal.jsonl"),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
  };

  it("ten that are over and all that are dead, until all are asked for", async () => {
    const cwd = temporaryRepository();
    for (let second = 0; second < 12; second++) plantRun(cwd, second, second === 0);
    const rows = async (...flags: string[]) =>
      (await shown(cwd, ...flags)).split("\n").filter((line) => /^\d{8}-/.test(line));
    const recent = await rows();
    expect(recent).toHaveLength(11);
    expect(recent).toEqual(recent.toSorted().reverse());
    expect(await rows("-a")).toHaveLength(12);
    const ids = (await ps(cwd)).map(({ runId }) => runId);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(recent.some((line) => line.startsWith(runIdOf(0)))).toBe(true);
    expect(await shown(cwd)).toMatch(/1 more has ended. To list all: .*sanddune ps --all/);
    expect(await rows("--all")).toHaveLength(12);
    expect(await ps(cwd)).toHaveLength(12);
  });
});
