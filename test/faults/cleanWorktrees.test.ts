import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clean, cleanInWords, deadRun, outcomesOf, startHangingRun, worktreeOf } from "../cli/hangingRuns.ts";
import { git } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

describeWith(["bubblewrap"], "clean never loses files:", () => {
  it.each([
    ["a new file", "echo x > new.txt"],
    ["a changed file", "echo x > README.md"],
    ["a staged file", "echo x > new.txt; git add new.txt"],
    ["a removed file", "rm README.md"],
  ])("a worktree with %s stays, and the file with it", async (_, script) => {
    const { cwd } = await deadRun({ script });
    const before = execFileSync("ls", ["-l", worktreeOf(cwd)], { encoding: "utf8" });
    expect(await clean(cwd, "--yes")).toContainEqual(
      expect.objectContaining({
        what: "worktree",
        outcome: "kept",
        keptBecause: "it holds changes that are not committed",
      }),
    );
    expect(execFileSync("ls", ["-l", worktreeOf(cwd)], { encoding: "utf8" })).toBe(before);
  });

  it("a worktree that the user has switched to another branch stays", async () => {
    const { cwd } = await deadRun();
    git(worktreeOf(cwd), "switch", "--quiet", "--create", "mine");
    expect(await cleanInWords(cwd)).toContain("it was switched to mine");
    expect(git(worktreeOf(cwd), "branch", "--show-current")).toBe("mine");
  });

  it("a worktree of which git cannot tell stays", async () => {
    const { cwd } = await deadRun();
    writeFileSync(join(worktreeOf(cwd), ".git"), "gitdir: nowhere\n");
    const outcomes = await clean(cwd, "--yes");
    expect(outcomesOf(outcomes)).toContain("kept worktree");
    expect(existsSync(join(worktreeOf(cwd), "README.md"))).toBe(true);
  });

  it("a worktree that a later run has taken over is not the earlier run's to lose", async () => {
    const first = await deadRun({ script: "echo precious > precious.txt" });
    const second = await startHangingRun({ cwd: first.cwd });
    const { cwd } = first;
    expect((await clean(cwd, "--yes")).filter(({ what }) => what === "worktree")).toEqual([]);
    await second.die();
    const named = await clean(cwd, "--yes", "--run", first.runId);
    expect(named).toContainEqual(
      expect.objectContaining({
        what: "worktree",
        keptBecause: `run ${second.runId} has worked in it since`,
      }),
    );
    expect(existsSync(join(worktreeOf(cwd), "precious.txt"))).toBe(true);
    await clean(cwd, "--yes", "--run", second.runId);
    expect(existsSync(worktreeOf(cwd))).toBe(false);
  });
});
