import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git } from "../../helpers/repository/repository.ts";
import { RUN_ID } from "../../helpers/repository/runId.ts";
import { buildNodeImage } from "../../helpers/runtimes/nodeImage.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { contents, DEEP, makeProject, type Project, subjects } from "./projects.ts";

const mergeSubjects = (cwd: string): string[] =>
  git(cwd, "log", "--reverse", "--merges", "--format=%s").split("\n");

const branches = (cwd: string): string[] => git(cwd, "branch", "--format=%(refname:short)").split("\n");

const mergesProposedIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}git merge (\S+)$/gm)].map(([, branch = ""]) => branch);

/** The branch that the user is told to merge, and there is one only. */
const mergeProposedIn = (text: string): string => {
  const proposed = mergesProposedIn(text);
  expect(proposed).toHaveLength(1);
  return proposed[0] ?? "";
};

/** Whether the task that takes so long is being done. */
const isAtWork = (cwd: string): boolean => {
  const worktrees = join(cwd, ".sanddune/worktrees");
  return (
    existsSync(worktrees) &&
    readdirSync(worktrees).some((name) => existsSync(join(worktrees, name, "slow.txt")))
  );
};

/** What names the file that runs by itself, of the task that was merged although others have failed. */
const expectWorkflowMerged = (directory: string, stderr: string): void => {
  expect(stderr).not.toContain("Task workflow");
  expect(stderr).toMatch(/^Careful, .*"\.github\/workflows\/ci\.yml"/m);
  expect(existsSync(join(directory, ".github/workflows/ci.yml"))).toBe(true);
};

const NODE_IMAGE = `sanddune-test-node:${RUN_ID}-templates`;

describeWith(["docker", "node 22"], "the templates, unchanged, in docker", () => {
  beforeAll(() => buildNodeImage("docker", NODE_IMAGE));
  afterAll(() => void spawnSync("docker", ["image", "rm", "--force", NODE_IMAGE]));

  it("parallel-planner-with-review: plans, implements with the dependencies installed, reviews, and merges", async () => {
    const flags = ["--sandbox", "docker", "--image-name", NODE_IMAGE];
    const { directory, main } = await makeProject("parallel-planner-with-review", ["green"], flags);
    expect(await main()).toMatchObject({ exitCode: 0 });
    expect(mergeSubjects(directory)).toEqual(["Merge task green: Write green"]);
    expect(contents(directory, "green.txt")).toBe("green\n");
    expect(contents(directory, "review-task-green.txt")).toBe("fine\n");
    expect(leftovers(directory)).toEqual([]);
  });
});

describeWith(
  ["bubblewrap", "node 22"],
  "the templates, from anywhere in the repository, whose programs are not run",
  () => {
    it("blank: merges what the agent commits into the current branch", async () => {
      const { directory, main, hasRunPlanted } = await makeProject("blank", []);
      expect(await main(DEEP)).toMatchObject({ exitCode: 0 });
      expect(subjects(directory)).toEqual(["Say hello"]);
      expect(hasRunPlanted()).toBe(false);
      expect(leftovers(directory)).toEqual([]);
    });

    it("simple-loop: does one task after the other, at one start as many as it says at its top, and none twice", async () => {
      const { directory, main, hasRunPlanted } = await makeProject("simple-loop", ["red", "green", "blue"]);
      const file = join(directory, ".sanddune/main.mts");
      writeFileSync(file, readFileSync(file, "utf8").replace("MAX_TASKS = 10", "MAX_TASKS = 2"));
      git(directory, "commit", "--quiet", "--all", "--message", "Do fewer tasks");
      const done = () => subjects(directory).slice(1);
      const first = await main(DEEP);
      expect(first.exitCode).toBe(0);
      expect(first.stdout).toContain("2 tasks are done. Start this again for the next ones.");
      expect(done()).toEqual(["Task red: write it", "Task green: write it"]);
      const second = await main(DEEP);
      expect(second.exitCode).toBe(0);
      expect(second.stdout).toContain("No task is left.");
      expect(done()).toEqual(["Task red: write it", "Task green: write it", "Task blue: write it"]);
      expect(hasRunPlanted()).toBe(false);
      expect(leftovers(directory)).toEqual([]);
    });

    it("sequential-reviewer: leaves a reviewed branch for the user, and then says that nothing is left", async () => {
      const { directory, main, hasRunPlanted } = await makeProject("sequential-reviewer", ["green"]);
      const first = await main(DEEP);
      expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("The reviewer approves.") });
      expect(subjects(directory)).toEqual([]);
      expect(subjects(directory, "agent/next-task")).toEqual(["Task green: write it", "Review: note it"]);

      // As it says itself.
      expect(first.stdout).toContain("git merge agent/next-task && git branch -d agent/next-task");
      git(directory, "merge", "--quiet", "agent/next-task");
      git(directory, "branch", "--quiet", "-d", "agent/next-task");
      expect(await main(DEEP)).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining("There is no open task."),
      });
      expect(branches(directory)).toEqual(["main"]);
      expect(hasRunPlanted()).toBe(false);
      expect(leftovers(directory)).toEqual([]);
    });

    it("parallel-planner: names a branch that was not merged, keeps it, and continues with it the next time", async () => {
      const { directory, main, hasRunPlanted } = await makeProject("parallel-planner", ["stubborn"]);
      const first = await main(DEEP);
      expect(first.exitCode).toBe(1);
      expect(first.stderr).toContain("Task stubborn is not done. It was not merged.");
      expect(first.stdout).toMatch(/\nNothing was merged\.\n/);
      expect(branches(directory)).toEqual(["agent/task-stubborn", "main"]);
      const kept = git(directory, "rev-parse", "agent/task-stubborn");

      const second = await main(DEEP);
      expect(second.stdout).toContain("Planned: agent/task-stubborn\n");
      expect(second.exitCode).toBe(1);
      expect(git(directory, "rev-parse", "agent/task-stubborn")).toBe(kept);
      expect(hasRunPlanted()).toBe(false);
      expect(leftovers(directory)).toEqual([]);
    });

    it("parallel-planner-with-review: plans, implements side by side, reviews, and merges what conflicts", async () => {
      const tasks = ["red", "blue", "green"];
      const { directory, main, hasRunPlanted } = await makeProject("parallel-planner-with-review", tasks);
      const before = git(directory, "rev-parse", "--short", "HEAD");
      const { exitCode, stdout } = await main(DEEP);
      expect(exitCode).toBe(0);
      expect(stdout).toContain("Planned: agent/task-red, agent/task-blue, agent/task-green");
      for (const id of tasks) expect(stdout).toContain(`Task ${id} waits to be merged.\n`);
      const landed = git(directory, "log", "--reverse", "--no-merges", "--format=%h %s", `${before}..HEAD`);
      expect(stdout).toContain(
        `\nMerged: agent/task-red, agent/task-blue, agent/task-green\n${landed.replace(/^/gm, "  ")}\n`,
      );
      expect(stdout).toMatch(/\n {2}\d+ files changed, .*\nLook at it: {2}git log --patch \w+\.\.HEAD\n$/);
      expect(contents(directory, "colour.txt")).toBe("red\nblue\n");
      expect(contents(directory, "green.txt")).toBe("green\n");
      expect(mergeSubjects(directory)).toEqual(tasks.map((id) => `Merge task ${id}: Write ${id}`));
      for (const id of tasks) expect(contents(directory, `review-task-${id}.txt`)).toBe("fine\n");
      expect(branches(directory)).toEqual(["main"]);
      expect(git(directory, "status", "--porcelain")).toBe("");
      expect(hasRunPlanted()).toBe(false);
      expect(leftovers(directory)).toEqual([]);
    });
  },
);

describeWith(["bubblewrap", "node 22"], "the templates, with tasks that go wrong", () => {
  it("blank: says once what went wrong, and how to take what there is", async () => {
    const { directory, main } = await makeProject("blank", []);
    writeFileSync(join(directory, ".sanddune/prompt.md"), "Do task broken: now\n");
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(`${stdout}${stderr}`.match(/ended with exit code 3/g)).toHaveLength(1);
    expect(subjects(directory, mergeProposedIn(stderr))).toEqual(["Task broken: begin"]);
  });

  it("simple-loop: has merged every task that was done before one fails, says once why, and how to take the rest", async () => {
    const { directory, main } = await makeProject("simple-loop", ["green", "broken"]);
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(`${stdout}${stderr}`.match(/ended with exit code 3/g)).toHaveLength(1);
    expect(subjects(directory)).toEqual(["Task green: write it"]);
    expect(subjects(directory, mergeProposedIn(stderr))).toEqual([
      "Task green: write it",
      "Task broken: begin",
    ]);
  });

  it("simple-loop: does not try for ever when the agent does nothing", async () => {
    const { directory, main } = await makeProject("simple-loop", ["lazy", "green"]);
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("The agent has ended without a commit.");
    expect(stdout.match(/The run succeeded/g)).toHaveLength(1);
    expect(subjects(directory)).toEqual([]);
    expect(leftovers(directory)).toEqual([]);
  });

  it("sequential-reviewer: says once what went wrong", async () => {
    const { directory, main } = await makeProject("sequential-reviewer", ["broken"]);
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(`${stdout}${stderr}`.match(/ended with exit code 3/g)).toHaveLength(1);
    expect(subjects(directory, "agent/next-task")).toEqual(["Task broken: begin"]);
  });

  it.each([
    ["dirty", "The agent has ended without a commit."],
    ["endless", "The task is not finished."],
  ])("sequential-reviewer: sends nothing to review that is not done (%s)", async (task, problem) => {
    const { directory, main } = await makeProject("sequential-reviewer", [task]);
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
    expect(stdout).not.toMatch(/reviewer|git merge/);
    expect(branches(directory)).toEqual(["agent/next-task", "main"]);
  });

  it("sequential-reviewer: fails when the reviewer does not approve", async () => {
    const { directory, main } = await makeProject("sequential-reviewer", ["dubious"]);
    const { exitCode, stdout } = await main();
    expect(exitCode).toBe(1);
    expect(stdout).toContain("The reviewer does not approve: it is dubious");
    expect(subjects(directory, "agent/next-task")).toEqual(["Task dubious: write it"]);
    expect(leftovers(directory)).toEqual([]);
  });

  it("parallel-planner: a task that fails stops no other, and every one that is not done is named, with what there is of it", async () => {
    const tasks = ["broken", "lazy", "dirty", "endless", "workflow", "red"];
    const { directory, main } = await makeProject("parallel-planner", tasks);
    const { exitCode, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Task broken is not done.");
    expect(stderr).toContain("Task lazy is not done. It ended without a commit.");
    expect(stderr).toContain("Task dirty is not done. It ended without a commit.");
    expect(stderr).toContain("Task endless is not done. It ended without saying that it is finished.");
    const [, worktree = ""] = /What task dirty has not committed is in (.+)/.exec(stderr) ?? [];
    expect(contents(worktree, "dirty.txt")).toBe("dirty\n");
    expect(subjects(directory, "agent/task-broken")).toEqual(["Task broken: begin"]);
    expect(existsSync(join(directory, "broken.txt"))).toBe(false);
    expectWorkflowMerged(directory, stderr);
    expect(mergesProposedIn(stderr)).toEqual(["agent/task-broken", "agent/task-endless"]);
    expect(contents(directory, "colour.txt")).toBe("red\n");
    expect(branches(directory)).toEqual([
      ...["agent/task-broken", "agent/task-dirty", "agent/task-endless"],
      "main",
    ]);
  });

  it("parallel-planner-with-review: does not merge what the reviewer does not approve, and names it, and every other task that is not done", async () => {
    const tasks = ["broken", "lazy", "workflow", "dubious"];
    const { directory, main } = await makeProject("parallel-planner-with-review", tasks);
    const { exitCode, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Task broken is not done.");
    expect(stderr).toContain("Task lazy is not done. It ended without a commit.");
    expect(stderr).toContain("Task dubious is not done. The reviewer does not approve: it is dubious");
    expect(mergesProposedIn(stderr)).toEqual(["agent/task-broken", "agent/task-dubious"]);
    expectWorkflowMerged(directory, stderr);
    expect(existsSync(join(directory, "dubious.txt"))).toBe(false);
    expect(branches(directory)).toEqual(["agent/task-broken", "agent/task-dubious", "main"]);
    expect(leftovers(directory)).toEqual([]);
  });
});

describeWith(["bubblewrap", "node 22"], "the templates, when they are stopped", () => {
  const expectFinished = async (directory: string, main: Project["main"]): Promise<void> => {
    expect(await main()).toMatchObject({ exitCode: 0 });
    expect(contents(directory, "slow.txt")).toBe("slow\n");
    expect(branches(directory)).toEqual(["main"]);
  };

  it("parallel-planner: after SIGINT no agent is at work any more, what was begun is named, and the next start finishes it", async () => {
    const { directory, start, main } = await makeProject("parallel-planner", ["slow"]);
    const { child, result } = start();
    await waitFor(() => isAtWork(directory));
    child.kill("SIGINT");
    const { exitCode, stderr } = await result;
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Task slow is not done. Stopped.");
    expect(stderr).toContain("What task slow has not committed is in ");
    await waitFor(() => processesWith(directory).length === 0);
    await expectFinished(directory, main);
  });

  it("parallel-planner: after SIGKILL no agent is at work any more, and the next start finishes what was begun", async () => {
    const { directory, start, main } = await makeProject("parallel-planner", ["slow"]);
    const { child, result } = start();
    await waitFor(() => isAtWork(directory));
    child.kill("SIGKILL");
    expect((await result).exitCode).toBe(null);
    await waitFor(() => processesWith(directory).length === 0);
    await expectFinished(directory, main);
  });

  it.each([
    "SIGTERM",
    // The terminal was closed.
    "SIGHUP",
  ] as const)("simple-loop: after %s the commits of the task that was begun can be taken", async (signal) => {
    const { directory, start } = await makeProject("simple-loop", ["pausing"]);
    const { child, result } = start();
    await waitFor(() => isAtWork(directory));
    child.kill(signal);
    const { exitCode, stdout, stderr } = await result;
    expect(exitCode).toBe(1);
    expect(stdout).toContain("The run was aborted.");
    expect(subjects(directory)).toEqual([]);
    expect(subjects(directory, mergeProposedIn(stderr))).toEqual(["Task pausing: begin"]);
    await waitFor(() => processesWith(directory).length === 0);
  });
});
