import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../../cli/callCli.ts";
import { clean, outcomesOf } from "../../cli/runs/hangingRuns.ts";
import { killIfAlive, killProcess } from "../../helpers/processes/killProcess.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, SANDBOXES, STRATEGIES } from "../../security/support.ts";
import { useProgram } from "./killedPrograms.ts";
import {
  descendantsOf,
  FILES_AROUND_GATE,
  holdUpMerge,
  MANY_FILES,
  prepareForMerge,
  progressIsDue,
} from "./mergeGate.ts";
import type { RunsOrder } from "./runsUntilKilled.ts";

const program = useProgram("runsUntilKilled.ts");
const NEXT = { branchStrategy: STRATEGIES["merge-to-head"], sandbox: SANDBOXES.isolated() } as const;

const isGitIn = (pid: number, directory: string): boolean =>
  readFileSync(`/proc/${pid}/comm`, "utf8") === "git\n" && readlinkSync(`/proc/${pid}/cwd`) === directory;

/** A run in a process of its own that is in the middle of moving the user's checkout to the merged result. */
const mergingRun = async () => {
  const cwd = temporaryRepository();
  prepareForMerge(cwd);
  const gate = holdUpMerge(cwd);
  const run = { name: "run", sandbox: "isolated", branchStrategy: STRATEGIES["merge-to-head"] } as const;
  const order: RunsOrder = {
    cwd,
    marks: temporaryDirectory(),
    image: "",
    runs: [{ ...run, steps: [MANY_FILES] }],
  };
  const child = spawn(process.execPath, [program(), JSON.stringify(order)], {
    env: { ...process.env, TMPDIR: temporaryDirectory() },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(() => {
    gate.open();
    child.kill("SIGKILL");
  });
  await waitFor(() => gate.isReached() || child.exitCode !== null);
  const orchestrator = child.pid as number;
  const below = descendantsOf(orchestrator);
  const before = git(cwd, "rev-parse", "main");
  const killOrchestrator = async () => {
    killProcess(orchestrator);
    await ended;
  };
  return {
    cwd,
    gate,
    before,
    git: below.find((pid) => isGitIn(pid, cwd)) as number,
    killOrchestrator,
    /** As a power cut or the end of a cgroup does it. */
    killEverything: async () => {
      await killOrchestrator();
      // Some of them, such as the filter's `sleep`, end by themselves.
      for (const pid of below) killIfAlive(pid);
      await waitFor(() => below.every((pid) => !processIsAlive(pid)));
    },
  };
};

const mergedRunBranch = (cwd: string): string =>
  git(cwd, "branch", "--list", "--format=%(refname:short)", "sanddune/*");

describe("SIGKILL of the process that merges", () => {
  it("alone, in a merge so long that git shows progress: git finishes the checkout and moves the branch", async () => {
    const merge = await mergingRun();
    await merge.killOrchestrator();
    await progressIsDue(merge.git);
    merge.gate.open();
    await waitFor(() => !processIsAlive(merge.git));
    expect(git(merge.cwd, "status", "--porcelain")).toBe("");
    expect(git(merge.cwd, "log", "-1", "--format=%s")).toBe("Many files");
    expect(outcomesOf(await clean(merge.cwd, "--yes"))).toContain("removed interrupted merge");
    expect(git(merge.cwd, "status", "--porcelain")).toBe("");
    git(merge.cwd, "fsck", "--connectivity-only");
  });

  it("and of git: clean reports and restores the checkout", async () => {
    const merge = await mergingRun();
    await merge.killEverything();
    const { cwd, before } = merge;
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    expect(existsSync(join(cwd, ".git/index.lock"))).toBe(true);
    expect(git(cwd, "status", "--porcelain")).not.toBe("");
    writeFileSync(join(cwd, "mine.txt"), "the user's\n");

    const shown = await runCli(["clean"], { cwd });
    expect(shown.stdout).toContain(`interrupted merge ${cwd}`);
    expect(existsSync(join(cwd, ".git/index.lock"))).toBe(true);

    expect(outcomesOf(await clean(cwd, "--yes"))).toContain("removed interrupted merge");
    expect(git(cwd, "status", "--porcelain")).toBe("?? mine.txt");
    expect(existsSync(join(cwd, "a"))).toBe(false);
    expect(git(cwd, "rev-parse", "main")).toBe(before);
    const branch = mergedRunBranch(cwd);
    merge.gate.open();
    git(cwd, "merge", "--quiet", branch);
    expect(git(cwd, "log", "-1", "--format=%s")).toBe("Many files");
    expect(outcomesOf(await clean(cwd, "--yes"))).not.toContain("removed interrupted merge");
  });

  it("and of git: the next merge restores the checkout first, and reports it", async () => {
    const merge = await mergingRun();
    await merge.killEverything();
    merge.gate.open();
    const next = await play(merge.cwd, [{ commit: "Next", files: { "next.txt": "next\n" } }], NEXT);
    expect(next.warnings.join("\n")).toContain("was interrupted");
    expect(git(merge.cwd, "log", "-1", "--format=%s")).toBe("Next");
    expect(git(merge.cwd, "status", "--porcelain")).toBe("");
    git(merge.cwd, "merge", "--quiet", mergedRunBranch(merge.cwd));
    expect(git(merge.cwd, "ls-files", "a", "z").split("\n")).toHaveLength(2 * FILES_AROUND_GATE);
  });

  it("and of git: rescue restores the checkout, and says how to merge", async () => {
    const merge = await mergingRun();
    await merge.killEverything();
    const { cwd, before } = merge;
    const branch = mergedRunBranch(cwd);
    const { stdout, exitCode } = await runCli(["rescue", branch.replace("sanddune/", "")], { cwd });
    expect(stdout).toContain(`git merge ${branch}`);
    expect(exitCode).toBe(0);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(git(cwd, "rev-parse", "main")).toBe(before);
  });

  it("and of git: a file that the user has changed since is kept, and named with the commands to continue", async () => {
    const merge = await mergingRun();
    await merge.killEverything();
    merge.gate.open();
    const { cwd } = merge;
    writeFileSync(join(cwd, "0-changed.txt"), "the user's work\n");
    const half = git(cwd, "status", "--porcelain", "--untracked-files=all");

    const { stdout } = await runCli(["clean", "--yes"], { cwd });
    expect(stdout).toContain("0-changed.txt");
    expect(stdout).toContain("stash");
    const error = await failureOf(play(cwd, [{ commit: "Next", files: { "next.txt": "n\n" } }], NEXT));
    expect(error.name).toBe("MergeInterruptedError");
    expect(error.message).toContain("0-changed.txt");
    expect(git(cwd, "status", "--porcelain", "--untracked-files=all")).toBe(half);
    expect(readFileSync(join(cwd, "0-changed.txt"), "utf8")).toBe("the user's work\n");

    git(cwd, "stash", "push", "--quiet", "--include-untracked");
    const sourceBranch = (error as unknown as { sourceBranch: string }).sourceBranch;
    git(cwd, "merge", "--quiet", sourceBranch);
    expect(git(cwd, "show", "stash@{0}:0-changed.txt")).toBe("the user's work");
    expect(outcomesOf(await clean(cwd, "--yes"))).not.toContain("kept interrupted merge");
  });
});

describeWith(["bubblewrap"], "SIGKILL of the process that merges and of git", () => {
  it("a run in the checkout itself starts with the restored checkout", async () => {
    const merge = await mergingRun();
    await merge.killEverything();
    merge.gate.open();
    const everything = { shell: "echo own > own.txt; git add -A; git commit -q -m Everything" };
    const head = { branchStrategy: STRATEGIES.head, sandbox: SANDBOXES.bubblewrap() };
    const { warnings } = await play(merge.cwd, [everything], head);
    expect(warnings.join("\n")).toContain("was interrupted");
    expect(git(merge.cwd, "show", "--format=", "--name-status", "HEAD")).toBe("A\town.txt");
  });
});
