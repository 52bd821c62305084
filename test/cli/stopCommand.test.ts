import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { repositoryWithAgent, subjectsOf } from "./fixtures.ts";
import {
  commits,
  deadRun,
  hang,
  ps,
  type SandboxFlag,
  sandboxFlags,
  startHangingRun,
} from "./hangingRuns.ts";
import { runCli, startCli } from "./startCli.ts";

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
    });
  });
}

describeWith(["bubblewrap"], "sanddune stop", () => {
  it("stops a run that waits for a host hook", async () => {
    const cwd = repositoryWithAgent("");
    const { line, isThere } = hang();
    const hooks = join(temporaryDirectory(), "hooks.json");
    writeFileSync(hooks, JSON.stringify({ host: { onWorktreeReady: [{ command: line }] } }));
    const flags = ["--agent-command", "sh ./agent.sh", "--prompt", "x", "--hooks", hooks, "--branch", "b"];
    const { result } = startCli(["run", ...flags, ...sandboxFlags("bubblewrap")], { cwd });
    await waitFor(isThere);
    const [run] = await ps(cwd);
    expect((await stop(cwd, run?.runId ?? "")).exitCode).toBe(0);
    expect((await result).exitCode).toBe(1);
    expect(isThere()).toBe(false);
    expect(leftovers(cwd).filter((name) => !name.endsWith("/stop"))).toEqual([]);
  });

  it("stops several runs, found by name, by the beginning and by the end of the id", async () => {
    const first = await startHangingRun({ flags: ["--branch", "b1", "--name", "by name"] });
    const { cwd } = first;
    const second = await startHangingRun({ cwd, flags: ["--branch", "b2"] });
    const third = await startHangingRun({ cwd, flags: ["--branch", "b3"] });
    const { exitCode, stdout } = await stop(cwd, "by name", second.runId.slice(-6), third.runId, "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(
      [first, second, third].map(({ runId }) => ({ runId, state: "aborted" })),
    );
    const codes = await Promise.all(
      [first, second, third].map(async ({ result }) => (await result).exitCode),
    );
    expect(codes).toEqual([1, 1, 1]);
  });

  it("may be asked for twice at the same time", async () => {
    const { cwd, runId, result } = await startHangingRun();
    const both = await Promise.all([stop(cwd, runId), stop(cwd, runId, runId)]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    for (const { stdout } of both) expect(stdout).toBe(`Run ${runId} has stopped, no commits.\n`);
    await result;
  });

  it("leaves a run alone that is over", async () => {
    const { cwd, runId, result } = await startHangingRun();
    await stop(cwd, runId);
    await result;
    const again = await stop(cwd, runId);
    expect(again).toMatchObject({ exitCode: 0, stdout: `Run ${runId} was over already: it has aborted.\n` });
  });

  it("of a dead run says how to clean up after it, and fails", async () => {
    const { cwd, runId } = await deadRun();
    expect(await stop(cwd, runId)).toMatchObject({
      exitCode: 1,
      stdout: `Run ${runId} is dead. What it has left: sanddune clean\n`,
    });
    expect(existsSync(join(cwd, ".sanddune/runs", runId, "stop"))).toBe(false);
  });

  it("stops nothing if one of the runs is not there", async () => {
    const { cwd, runId, child, result } = await startHangingRun();
    const { exitCode, stderr } = await stop(cwd, runId, "nobody");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("sanddune ps --all");
    expect(await ps(cwd)).toMatchObject([{ runId, state: "running" }]);
    child.kill("SIGTERM");
    await result;
  });
});
