import { expect, it } from "vitest";
import { ClosedError, RunStoppedError } from "../../../src/index.ts";
import { commits, hang } from "../../helpers/agents/agentScripts.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { commit, expectSaneTerminal, startSession } from "../../integration/interactive/scenes.ts";
import { BRANCH, ending, openSandbox, openWorktree, playIn } from "../../security/lasting/lasting.ts";
import { play, shell } from "../../security/support.ts";
import { runCli } from "../callCli.ts";
import { subjectsOf } from "../fixtures.ts";
import { ps } from "../runs/hangingRuns.ts";

const stop = (cwd: string, runId: string) => runCli(["stop", runId], { cwd });

/** A file that asks for a stop may stay, with the journal. */
const left = (cwd: string) => leftovers(cwd).filter((name) => !name.endsWith("/stop"));

const runningOf = async (cwd: string, kind: string): Promise<string> =>
  (await ps(cwd)).find((run) => run.kind === kind && run.state === "running")?.runId ?? "";

describeWith(["bubblewrap"], "sanddune stop of what one process does:", () => {
  it("one of two runs is stopped, and the other continues", async () => {
    const cwd = temporaryRepository();
    const [first, second] = [hang(), hang()];
    const on = (branch: string) => ({ branchStrategy: { type: "branch", branch } as const });
    const stopped = ending(play(cwd, [shell(commits("first")), shell(first.line)], on("b1")));
    const other = play(cwd, [shell(commits("second")), shell(second.line)], { ...on("b2"), name: "other" });
    const otherEnding = ending(other);
    await waitFor(() => first.isThere() && second.isThere());
    const runId = (await ps(cwd)).find(({ branch }) => branch === "b1")?.runId ?? "";
    expect((await stop(cwd, runId)).exitCode).toBe(0);
    expect(await stopped).toBeInstanceOf(RunStoppedError);
    expect(await stopped).toMatchObject({ runId, stoppedRunId: runId, branch: "b1" });
    expect([first.isThere(), second.isThere()]).toEqual([false, true]);
    expect(subjectsOf(cwd, "b1")[0]).toBe("first");
    await stop(cwd, "other");
    expect(await otherEnding).toBeInstanceOf(RunStoppedError);
  });

  it("a lasting sandbox is closed, its call ends with what was committed, later calls are refused", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    const { line, isThere } = hang();
    const call = ending(playIn(sandbox, shell(commits("kept")), shell(line)));
    await waitFor(isThere);
    const { exitCode } = await stop(cwd, await runningOf(cwd, "sandbox"));
    expect(exitCode).toBe(0);
    expect(await call).toBeInstanceOf(RunStoppedError);
    expect(isThere()).toBe(false);
    expect(await ending(playIn(sandbox, { commit: "Too late" }))).toBeInstanceOf(ClosedError);
    expect(subjectsOf(cwd, BRANCH)[0]).toBe("kept");
    expect((await ps(cwd)).filter(({ state }) => state === "running")).toEqual([]);
    expect(left(cwd)).toEqual([]);
  });

  it("a call in a lasting sandbox is stopped, and the sandbox stays usable", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    const { line, isThere } = hang();
    const call = ending(playIn(sandbox, shell(line)));
    await waitFor(isThere);
    await stop(cwd, await runningOf(cwd, "run"));
    expect(await call).toBeInstanceOf(RunStoppedError);
    await playIn(sandbox, { commit: "After" });
    expect(subjectsOf(cwd, BRANCH)[0]).toBe("After");
    await sandbox.close();
    expect(left(cwd)).toEqual([]);
  });

  it("a lasting worktree is closed, and the sandboxes over it", async () => {
    const cwd = temporaryRepository();
    const worktree = await openWorktree(cwd);
    const { bubblewrap } = await import("../../../src/sandboxes/bubblewrap.ts");
    const sandbox = await worktree.createSandbox({ sandbox: bubblewrap() });
    await playIn(sandbox, { commit: "Before" });
    expect((await stop(cwd, await runningOf(cwd, "worktree"))).exitCode).toBe(0);
    expect(await ending(playIn(sandbox, { commit: "Too late" }))).toBeInstanceOf(ClosedError);
    expect(subjectsOf(cwd, BRANCH)[0]).toBe("Before");
    expect((await ps(cwd)).filter(({ state }) => state === "running")).toEqual([]);
    expect(left(cwd)).toEqual([]);
  });
});

describeWith(["bubblewrap", "tmux"], "sanddune stop of an interactive session", () => {
  it("ends the agent's interface, keeps its commits, and gives the terminal back as it was", async () => {
    const scene = await startSession("bubblewrap");
    await commit(scene, "kept");
    const { cwd } = scene;
    expect((await stop(cwd, await runningOf(cwd, "interactive"))).exitCode).toBe(0);
    expect((await scene.outcome()).error).toMatchObject({ name: "RunStoppedError", branch: "main" });
    expect(subjectsOf(cwd, "main")[0]).toBe("kept");
    await expectSaneTerminal(scene);
  });
});
