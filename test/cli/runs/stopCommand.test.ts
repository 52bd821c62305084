import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunStoppedError } from "../../../src/index.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { commits, hang } from "../../helpers/agents/agentScripts.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { begun, RUN_ID, runDirectory } from "../../runs/journal/journals.ts";
import { failureOf, play } from "../../security/support.ts";
import { runCli } from "../callCli.ts";
import { subjectsOf } from "../fixtures.ts";
import { runCliProcess } from "../startCli.ts";
import { ps, type SandboxFlag, startHangingRun } from "./hangingRuns.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

const stop = (cwd: string, ...args: string[]) => runCli(["stop", ...args], { cwd });

/** Does not care for being asked to end, and has children of which nobody knows. */
const stubborn = (line: string) =>
  `${commits("kept")}\ntrap '' TERM INT HUP\n(setsid sh -c "trap '' TERM; ${line}" &)`;

for (const sandbox of ["bubblewrap", "docker"] as const satisfies SandboxFlag[]) {
  describeWith([sandbox], `sanddune stop of a run in ${sandbox}`, () => {
    it("ends an agent that does not want to end, with its children, and brings its commits home", async () => {
      const child = hang();
      const run = await startHangingRun({ sandbox, script: stubborn(child.line) });
      const { cwd, runId, result } = run;
      const { exitCode, stdout } = await stop(cwd, runId);
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: `Run ${runId} has stopped, commits on b: 1.\n`,
      });
      const told = await result;
      expect(told.exitCode).toBe(1);
      expect(JSON.parse(told.stdout).error).toMatchObject({
        name: "RunStoppedError",
        stoppedRunId: runId,
        branch: "b",
        commits: [{ sha: expect.any(String) }],
        preservedWorktreePath: expect.stringContaining(join(cwd, ".sanddune/worktrees")),
      });
      expect(told.stderr).toContain(`sanddune stop ${runId}`);
      expect([run.isAgentAlive(), child.isThere()]).toEqual([false, false]);
      expect(subjectsOf(cwd, "b")[0]).toBe("kept");
      expect(await ps(cwd)).toMatchObject([{ runId, state: "aborted" }]);
      expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
      // And it leaves a run alone that is over.
      expect(await stop(cwd, runId)).toMatchObject({
        exitCode: 0,
        stdout: `Run ${runId} had already ended: it has aborted.\n`,
      });
    });
  });
}

describe("sanddune stop", () => {
  it("stops a run that waits for a host hook", async () => {
    const cwd = temporaryRepository();
    const { line, isThere } = hang();
    const running = failureOf(
      play(cwd, [], {
        sandbox: testIsolated(),
        branchStrategy: { type: "branch", branch: "b" },
        hooks: { host: { onWorktreeReady: [{ command: line }] } },
      }),
    );
    await waitFor(isThere);
    const [run] = await ps(cwd);
    expect((await stop(cwd, run?.runId ?? "")).exitCode).toBe(0);
    expect(await running).toBeInstanceOf(RunStoppedError);
    expect(isThere()).toBe(false);
    expect(leftovers(cwd).filter((name) => !name.endsWith("/stop"))).toEqual([]);
  });

  it("stops several runs, found by name, by the end of the id and by the id", async () => {
    const cwd = temporaryRepository();
    const first = await playHangingRun(cwd, { branch: "b1", name: "by name" });
    const second = await playHangingRun(cwd, { branch: "b2" });
    const third = await playHangingRun(cwd, { branch: "b3" });
    const { exitCode, stdout } = await stop(cwd, "by name", second.runId.slice(-6), third.runId, "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(
      [first, second, third].map(({ runId }) => ({ runId, state: "aborted" })),
    );
    for (const { runId, ended } of [first, second, third]) {
      expect(await ended).toMatchObject({ name: "RunStoppedError", stoppedRunId: runId });
    }
  });

  it("stops nothing if one of the runs is not there, and may be asked for twice at the same time", async () => {
    const cwd = temporaryRepository();
    const { runId, ended, isAgentAlive } = await playHangingRun(cwd);
    const { exitCode, stderr } = await stop(cwd, runId, "nobody");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("sanddune ps --all");
    expect(await ps(cwd)).toMatchObject([{ runId, state: "running" }]);
    expect(isAgentAlive()).toBe(true);

    const both = await Promise.all([stop(cwd, runId, runId), runCliProcess(["stop", runId], { cwd })]);
    for (const told of both) expect(told).toMatchObject({ exitCode: 0 });
    expect(both[0].stdout).toBe(`Run ${runId} has stopped, no commits.\n`);
    expect(await ended).toBeInstanceOf(RunStoppedError);
  });

  it("of a dead run says how to clean up after it, and fails", async () => {
    const cwd = temporaryRepository();
    const owner = { ...ownIdentity(), startTime: "1" };
    const directory = runDirectory([begun({ owner })], join(cwd, ".sanddune/runs"));
    expect(await stop(cwd, RUN_ID)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(`^Run ${RUN_ID} is dead. To list its leftovers: .*sanddune clean\n$`),
    });
    expect(existsSync(join(directory, "stop"))).toBe(false);
  });
});
