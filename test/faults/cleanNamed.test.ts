import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectsOf } from "../cli/fixtures.ts";
import { clean, commits, deadRun, ps, startHangingRun, worktreeOf } from "../cli/hangingRuns.ts";
import { runCli } from "../cli/startCli.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

const WORK = `${commits("unfinished")}; echo open > open.txt`;
const branchesOf = (cwd: string) => git(cwd, "branch", "--format=%(refname:short)").split("\n");

describeWith(["bubblewrap"], "what is named goes with all its work:", () => {
  it("a run, but for the branch that it was for", async () => {
    const { cwd, runId } = await deadRun({ script: WORK });
    const other = await deadRun({ cwd, script: WORK, flags: ["--branch", "other"] });
    const outcomes = await clean(cwd, "--yes", "--run", runId);
    expect(outcomes.every(({ outcome, runIds }) => outcome === "removed" && runIds.includes(runId))).toBe(
      true,
    );
    expect(branchesOf(cwd)).toEqual(["b", "main", "other"]);
    expect((await ps(cwd)).map((run) => run.runId)).toEqual([other.runId]);
    expect(existsSync(join(worktreeOf(cwd), "open.txt"))).toBe(true);
    expect(readdirSync(join(cwd, ".sanddune/logs"))).toEqual([".gitignore", `${other.runId}.log`]);
  });

  it("a branch that a run has made, with its worktree, but not what never got on it", async () => {
    const { cwd, runId } = await deadRun({ script: WORK });
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

  it("the worktree of a branch that was there before, but not the branch", async () => {
    const first = await deadRun({ flags: ["--head"] });
    const { cwd } = first;
    await clean(cwd, "--yes");
    git(cwd, "branch", "mine");
    await deadRun({ cwd, script: "echo open > open.txt", flags: ["--branch", "mine"] });
    await clean(cwd, "--yes", "--branch", "mine");
    expect(branchesOf(cwd)).toEqual(["main", "mine"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("not yet when --yes is missing", async () => {
    const { cwd, runId } = await deadRun({ script: WORK });
    const outcomes = await clean(cwd, "--run", runId, "--branch", "b");
    expect(outcomes.map(({ what }) => what).sort()).toEqual([
      ...["branch", "files", "record", "ref", "sandbox", "worktree"],
    ]);
    expect(outcomes.every(({ outcome }) => outcome === "wouldBeRemoved")).toBe(true);
    expect(existsSync(join(worktreeOf(cwd), "open.txt"))).toBe(true);
  });
});

describeWith(["bubblewrap"], "a run that is running", () => {
  it("is not touched, and cannot be named, nor can its branch", async () => {
    const dead = await deadRun({ script: "echo dead > dead.txt" });
    const running = await startHangingRun({ cwd: dead.cwd, script: commits("alive") });
    const { cwd, runId } = running;
    for (const flags of [
      ["--run", runId],
      ["--run", dead.runId, "--run", runId],
      ["--branch", "b"],
    ]) {
      const { exitCode, stderr } = await runCli(["clean", "--yes", ...flags], { cwd });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`sanddune stop ${runId}`);
    }
    const outcomes = await clean(cwd, "--yes", "--records");
    expect(outcomes.filter(({ runIds }) => runIds.includes(runId))).toEqual([]);
    expect(existsSync(join(worktreeOf(cwd), "dead.txt"))).toBe(true);
    await runCli(["stop", runId], { cwd });
    await running.result;
    expect(subjectsOf(cwd, "b")[0]).toBe("alive");
  });
});

it("a name that nobody has is an error that says where to look", async () => {
  const { cwd } = await deadRun();
  for (const flags of [
    ["--run", "nobody"],
    ["--branch", "nobody"],
    ["--run", ""],
  ]) {
    const { exitCode, stdout, stderr } = await runCli(["clean", "--yes", ...flags], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("sanddune ps --all");
  }
  expect(existsSync(worktreeOf(cwd))).toBe(true);
});
