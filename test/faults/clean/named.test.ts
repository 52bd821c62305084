import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { clean, ps } from "../../cli/runs/hangingRuns.ts";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { onBranch, useHangingRuns, worktreeFor } from "./deadRuns.ts";

const { deadRuns, startRuns } = useHangingRuns();
const WORK = `${commits("unfinished")}; echo open > open.txt`;
const branchesOf = (cwd: string) => git(cwd, "branch", "--format=%(refname:short)").split("\n");

describeWith(["bubblewrap"], "clean removes what the user names, with all its work:", () => {
  it("a run, except for its branch; an unknown name is an error that says where to look", async () => {
    const { cwd, runs } = await deadRuns([{ script: WORK }, { script: WORK, ...onBranch("other") }]);
    const [{ runId }, other] = runs;
    for (const flags of [
      ["--run", "nobody"],
      ["--branch", "nobody"],
      ["--run", ""],
    ]) {
      const { exitCode, stdout, stderr } = await runCli(["clean", "--yes", ...flags], { cwd });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toContain("sanddune ps --all");
    }
    expect(existsSync(worktreeFor(cwd))).toBe(true);

    const outcomes = await clean(cwd, "--yes", "--run", runId);
    expect(outcomes.every(({ outcome, runIds }) => outcome === "removed" && runIds.includes(runId))).toBe(
      true,
    );
    expect(branchesOf(cwd)).toEqual(["b", "main", "other"]);
    expect((await ps(cwd)).map((run) => run.runId)).toEqual([other.runId]);
    expect(existsSync(join(worktreeFor(cwd, "other"), "open.txt"))).toBe(true);
    expect(existsSync(worktreeFor(cwd))).toBe(false);
    expect(readdirSync(join(cwd, ".sanddune/logs"))).toEqual([
      ".gitignore",
      expect.stringMatching(`^${other.runId}.*\\.log$`),
    ]);
  });

  it("a branch that a run created, with its worktree, but not commits that never got on it, and nothing without --yes", async () => {
    const { cwd, runs } = await deadRuns([{ script: WORK }]);
    const [{ runId }] = runs;
    const told = await clean(cwd, "--run", runId, "--branch", "b");
    expect(told.map(({ what }) => what).sort()).toEqual([
      ...["branch", "files", "record", "ref", "sandbox", "worktree"],
    ]);
    expect(told.every(({ outcome }) => outcome === "wouldBeRemoved")).toBe(true);
    expect(existsSync(join(worktreeFor(cwd), "open.txt"))).toBe(true);

    const outcomes = await clean(cwd, "--yes", "--branch", "b");
    expect(branchesOf(cwd)).toEqual(["main"]);
    expect(outcomes).toContainEqual(
      expect.objectContaining({
        what: "worktree",
        loses: "it holds changes that are not committed",
        outcome: "removed",
      }),
    );
    expect(leftovers(cwd)).toEqual([`refs/sanddune/base/${runId}`, `runs/${runId}/files`]);
    expect(await ps(cwd)).toMatchObject([{ runId, state: "dead" }]);
    await clean(cwd, "--yes", "--run", runId);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("the worktree of a branch that existed before, but not the branch", async () => {
    const cwd = temporaryRepository();
    git(cwd, "branch", "mine");
    await deadRuns([{ script: "echo open > open.txt", ...onBranch("mine") }], cwd);
    await clean(cwd, "--yes", "--branch", "mine");
    expect(branchesOf(cwd)).toEqual(["main", "mine"]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

describeWith(["bubblewrap"], "a run that is running", () => {
  it("is not touched, and cannot be named, nor can its branch", async () => {
    const dead = await deadRuns([{ script: "echo dead > dead.txt" }]);
    const { cwd } = dead;
    const running = await startRuns([{ script: commits("alive") }], cwd);
    const [{ runId }] = running.runs;
    for (const flags of [
      ["--run", runId],
      ["--run", dead.runs[0].runId, "--run", runId],
      ["--branch", "b"],
    ]) {
      const { exitCode, stderr } = await runCli(["clean", "--yes", ...flags], { cwd });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`sanddune stop ${runId}`);
    }
    const outcomes = await clean(cwd, "--yes", "--records");
    expect(outcomes.filter(({ runIds }) => runIds.includes(runId))).toEqual([]);
    expect(existsSync(join(worktreeFor(cwd), "dead.txt"))).toBe(true);
    await runCli(["stop", runId], { cwd });
    expect(subjectsOf(cwd, "b")[0]).toBe("alive");
  });
});
