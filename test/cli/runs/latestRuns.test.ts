import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { begun, entry } from "../../runs/journal/journals.ts";
import { record } from "../../trajectory/recording.ts";
import { runCli } from "../callCli.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

const idOf = (day: number): string => `203001${String(day).padStart(2, "0")}-000000-abcde${day}`;

/** A run that was begun on that day, is over, and has a log. */
const plantRun = (cwd: string, day: number, begins: object = {}, ends: object[] = [ENDED]): string => {
  const runId = idOf(day);
  const directory = join(cwd, ".sanddune/runs", runId);
  const logFilePath = join(cwd, ".sanddune/logs", `${runId}.log`);
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(cwd, ".sanddune/logs"), { recursive: true });
  writeFileSync(logFilePath, `first of ${day}\nsecond of ${day}\nlast of ${day}\n`);
  const at = `2030-01-${String(day).padStart(2, "0")}T00:00:00.000Z`;
  const lines = [begun({ runId, at, logFilePath, ...begins }), ...ends];
  writeFileSync(join(directory, "journal.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return runId;
};

const ENDED = entry("ended", { state: "succeeded" });
const DEAD = { owner: { ...ownIdentity(), startTime: "1" } };

describe("sanddune logs", () => {
  it("shows the latest run where none is named, and says which it is", async () => {
    const cwd = temporaryRepository();
    plantRun(cwd, 2);
    const latest = plantRun(cwd, 3, { name: "nightly" });
    plantRun(cwd, 1);
    const { exitCode, stdout, stderr } = await runCli(["logs"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "first of 3\nsecond of 3\nlast of 3\n" });
    expect(stderr).toBe(`Run ${latest}  succeeded, nightly, b\n`);
  });

  it("shows the last run on a branch, also of those that were merged into it", async () => {
    const cwd = temporaryRepository();
    plantRun(cwd, 1, { sourceBranch: "agent/x" });
    plantRun(cwd, 2, { sourceBranch: "agent/x" });
    plantRun(cwd, 3, { strategy: "merge-to-head", sourceBranch: "sanddune/1", targetBranch: "main" });
    expect((await runCli(["logs", "agent/x"], { cwd })).stdout).toContain("last of 2");
    expect((await runCli(["logs", "main"], { cwd })).stdout).toContain("last of 3");
  });

  it.each([
    ["0", ""],
    ["1", "last of 1\n"],
    ["2", "second of 1\nlast of 1\n"],
    ["99", "first of 1\nsecond of 1\nlast of 1\n"],
  ])("with -n %s begins with the last lines", async (count, expected) => {
    const cwd = temporaryRepository();
    plantRun(cwd, 1);
    expect((await runCli(["logs", "-n", count], { cwd })).stdout).toBe(expected);
  });

  it("says how to begin a run where there is none yet", async () => {
    const { exitCode, stderr } = await runCli(["logs"], { cwd: temporaryRepository() });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/There are no runs in this repository yet. To start one: .*sanddune run/);
  });
});

describe("sanddune replay", () => {
  it("shows the latest run that was recorded where none is named", async () => {
    const cwd = temporaryRepository();
    expect((await runCli(["replay"], { cwd })).stderr).toContain("There are no runs");
    const first = await record(cwd, ["echo a > a.txt"]);
    plantRun(cwd, 1);
    const { exitCode, stdout } = await runCli(["replay"], { cwd });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Run ${first.runId}: `);
  });

  it("says how to record one where none was", async () => {
    const cwd = temporaryRepository();
    plantRun(cwd, 1);
    const { exitCode, stderr } = await runCli(["replay"], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/No run of this repository was recorded. .*sanddune run --trajectory/);
  });
});

describe("sanddune stop", () => {
  it("stops the run that is running where none is named", async () => {
    const cwd = temporaryRepository();
    expect(await runCli(["stop"], { cwd })).toMatchObject({ exitCode: 0, stdout: "No run is running.\n" });
    plantRun(cwd, 1);
    const { runId, ended } = await playHangingRun(cwd, { branch: "agent/x" });
    const { exitCode, stdout } = await runCli(["stop"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `Run ${runId} has stopped, no commits.\n` });
    expect(await ended).toMatchObject({ name: "RunStoppedError" });
  });

  it("stops none of several, names them, and stops one by its branch or all with --all", async () => {
    const cwd = temporaryRepository();
    const runs = [];
    for (const branch of ["one", "two", "three"]) runs.push(await playHangingRun(cwd, { branch }));
    const refused = await runCli(["stop"], { cwd });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    for (const { runId, isAgentAlive } of runs) {
      expect(refused.stderr).toContain(`  ${runId}  running, `);
      expect(isAgentAlive()).toBe(true);
    }
    expect((await runCli(["stop", "two"], { cwd })).stdout).toContain(`Run ${runs[1]?.runId} has stopped`);
    expect(runs.map(({ isAgentAlive }) => isAgentAlive())).toEqual([true, false, true]);
    expect(await runCli(["stop", "--all", "one"], { cwd })).toMatchObject({ exitCode: 2 });
    const { stdout } = await runCli(["stop", "--all", "--json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject([{ branch: "one" }, { branch: "three" }]);
    await Promise.all(runs.map(({ ended }) => ended));
  });
});

describe("sanddune rescue", () => {
  it("rescues every run that is dead where none is named", async () => {
    const cwd = temporaryRepository();
    plantRun(cwd, 1);
    expect((await runCli(["rescue"], { cwd })).stdout).toBe("There is no dead run to rescue.\n");
    const dead = [plantRun(cwd, 2, DEAD, []), plantRun(cwd, 3, DEAD, [])];
    plantRun(cwd, 4, DEAD, [entry("recovered")]);
    const { exitCode, stdout } = await runCli(["rescue"], { cwd });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: dead.map((runId) => `Run ${runId} has nothing to rescue.\n`).join(""),
    });
  });
});
