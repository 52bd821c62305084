import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { templates } from "../../src/init/templates.ts";
import { processesWith } from "../cli/fixtures.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { contents, makeProject, subjects } from "./templateProjects.ts";

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

const SANDBOXES: [Runtime, string[]][] = [
  ["bubblewrap", ["--sandbox", "bubblewrap"]],
  ["docker", ["--sandbox", "docker", "--image-name", TEST_IMAGE]],
];

for (const [runtime, flags] of SANDBOXES) {
  describeWith([runtime, "node 22"], `the templates, unchanged, in ${runtime}`, () => {
    it("blank: merges what the agent commits into the current branch", async () => {
      const { directory, main } = await makeProject("blank", [], flags);
      expect(await main()).toMatchObject({ exitCode: 0 });
      expect(subjects(directory)).toEqual(["Say hello"]);
      expect(leftovers(directory)).toEqual([]);
    });

    it("parallel-planner-with-review: plans, implements side by side, reviews, and merges what conflicts", async () => {
      const tasks = ["red", "blue", "green"];
      const { directory, main } = await makeProject("parallel-planner-with-review", tasks, flags);
      expect(await main()).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining("Planned: agent/task-red, agent/task-blue, agent/task-green"),
      });
      expect(contents(directory, "colour.txt")).toBe("red\nblue\n");
      expect(contents(directory, "green.txt")).toBe("green\n");
      expect(mergeSubjects(directory)).toEqual(tasks.map((id) => `Merge task ${id}: Write ${id}`));
      for (const id of tasks) expect(contents(directory, `review-task-${id}.txt`)).toBe("fine\n");
      expect(branches(directory)).toEqual(["main"]);
      expect(git(directory, "status", "--porcelain")).toBe("");
      expect(leftovers(directory)).toEqual([]);
    });
  });
}

describeWith(["bubblewrap", "node 22"], "the templates, with tasks of all kinds", () => {
  it("simple-loop: does one task after the other until none is left, and does none twice", async () => {
    const { directory, main } = await makeProject("simple-loop", ["red", "green", "blue"]);
    expect(await main()).toMatchObject({ exitCode: 0 });
    const done = ["Task red: write it", "Task green: write it", "Task blue: write it"];
    expect(subjects(directory)).toEqual(done);
    expect(await main()).toMatchObject({ exitCode: 0 });
    expect(subjects(directory)).toEqual(done);
    expect(leftovers(directory)).toEqual([]);
  });

  it("simple-loop: has merged every task that was done before one fails, and says how to take the rest", async () => {
    const { directory, main } = await makeProject("simple-loop", ["green", "broken"]);
    const { exitCode, stderr } = await main();
    expect(exitCode).toBe(1);
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

  it("simple-loop: does no more than ten tasks at one start", async () => {
    const tasks = Array.from({ length: 11 }, (_, index) => `t${index}`);
    const { directory, main } = await makeProject("simple-loop", tasks);
    const { exitCode, stdout } = await main();
    expect(exitCode).toBe(0);
    expect(stdout).toContain("10 tasks are done. Start this again for the next ones.");
    expect(subjects(directory)).toHaveLength(10);
    expect((await main()).stdout).toContain("No task is left.");
    expect(subjects(directory)).toHaveLength(11);
  });

  it.each(["blank", "simple-loop", "sequential-reviewer"])(
    "%s: says once what went wrong",
    async (template) => {
      const { directory, main } = await makeProject(template, ["broken"]);
      if (template === "blank")
        writeFileSync(join(directory, ".sanddune/prompt.md"), "Do task broken: now\n");
      const { exitCode, stdout, stderr } = await main();
      expect(exitCode).toBe(1);
      expect(`${stdout}${stderr}`.match(/ended with exit code 3/g)).toHaveLength(1);
      const branch = template === "sequential-reviewer" ? "agent/next-task" : mergeProposedIn(stderr);
      expect(subjects(directory, branch)).toEqual(["Task broken: begin"]);
    },
  );

  it("sequential-reviewer: leaves a reviewed branch for the user, and then says that nothing is left", async () => {
    const { directory, main } = await makeProject("sequential-reviewer", ["green"]);
    const first = await main();
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("The reviewer approves.") });
    expect(subjects(directory)).toEqual([]);
    expect(subjects(directory, "agent/next-task")).toEqual(["Task green: write it", "Review: note it"]);

    // As it says itself.
    expect(first.stdout).toContain("git merge agent/next-task && git branch -d agent/next-task");
    git(directory, "merge", "--quiet", "agent/next-task");
    git(directory, "branch", "--quiet", "-d", "agent/next-task");
    expect(await main()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("There is no open task."),
    });
    expect(branches(directory)).toEqual(["main"]);
    expect(leftovers(directory)).toEqual([]);
  });

  it.each([
    ["lazy", "The agent has ended without a commit.", ["main"]],
    ["dirty", "The agent has ended without a commit.", ["agent/next-task", "main"]],
    ["endless", "The task is not finished.", ["agent/next-task", "main"]],
  ])("sequential-reviewer: sends nothing to review that is not done (%s)", async (task, problem, kept) => {
    const { directory, main } = await makeProject("sequential-reviewer", [task]);
    const { exitCode, stdout, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
    expect(stdout).not.toMatch(/reviewer|git merge/);
    expect(branches(directory)).toEqual(kept);
  });

  it("sequential-reviewer: fails when the reviewer does not approve", async () => {
    const { directory, main } = await makeProject("sequential-reviewer", ["dubious"]);
    const { exitCode, stdout } = await main();
    expect(exitCode).toBe(1);
    expect(stdout).toContain("The reviewer does not approve: it is dubious");
    expect(subjects(directory, "agent/next-task")).toEqual(["Task dubious: write it"]);
    expect(leftovers(directory)).toEqual([]);
  });

  it("parallel-planner: a task that fails stops no other, and its work stays on its branch", async () => {
    const { directory, main } = await makeProject("parallel-planner", ["broken", "red", "green"]);
    const { exitCode, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Task broken is not done.");
    expect(stderr).toContain("git merge agent/task-broken");
    expect(stderr).not.toContain("Task red");
    expect(contents(directory, "colour.txt")).toBe("red\n");
    expect(contents(directory, "green.txt")).toBe("green\n");
    expect(existsSync(join(directory, "broken.txt"))).toBe(false);
    expect(branches(directory)).toEqual(["agent/task-broken", "main"]);
    expect(subjects(directory, "agent/task-broken")).toEqual(["Task broken: begin"]);
    expect(leftovers(directory)).toEqual([]);
  });

  it.each(["parallel-planner", "parallel-planner-with-review"])(
    "%s: names every task that is not done, with what there is of it",
    async (template) => {
      const { directory, main } = await makeProject(template, ["lazy", "dirty", "endless", "green"]);
      const { exitCode, stderr } = await main();
      expect(exitCode).toBe(1);
      expect(stderr).toContain("Task lazy is not done. It ended without a commit.");
      expect(stderr).toContain("Task dirty is not done. It ended without a commit.");
      expect(stderr).toContain("Task endless is not done. It ended without saying that it is finished.");
      expect(mergesProposedIn(stderr)).toEqual(["agent/task-endless"]);
      const [, worktree = ""] = /What task dirty has not committed is in (.+)/.exec(stderr) ?? [];
      expect(contents(worktree, "dirty.txt")).toBe("dirty\n");
      expect(contents(directory, "green.txt")).toBe("green\n");
      expect(branches(directory)).toEqual(["agent/task-dirty", "agent/task-endless", "main"]);
    },
  );

  it.each(["parallel-planner", "parallel-planner-with-review"])(
    "%s: names what it has merged that runs by itself",
    async (template) => {
      const { directory, main } = await makeProject(template, ["workflow"]);
      const { exitCode, stderr } = await main();
      expect(exitCode).toBe(0);
      expect(stderr).toMatch(/^Careful, .*"\.github\/workflows\/ci\.yml"/m);
      expect(existsSync(join(directory, ".github/workflows/ci.yml"))).toBe(true);
    },
  );

  it.each(Object.keys(templates))("%s: runs no program that is in the repository", async (template) => {
    const { directory, main } = await makeProject(template, ["green"]);
    const bin = join(directory, "node_modules/.bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), '#!/bin/sh\ntouch "$0.ran"\nexit 1\n', { mode: 0o755 });
    // As package runners have it.
    vi.stubEnv("PATH", `${bin}:node_modules/.bin:${process.env["PATH"]}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await main()).toMatchObject({ exitCode: 0 });
    expect(readdirSync(bin)).toEqual(["git"]);
  });

  it("parallel-planner: names a branch that was not merged, keeps it, and goes on with it the next time", async () => {
    const { directory, main } = await makeProject("parallel-planner", ["stubborn", "green"]);
    const first = await main();
    expect(first.exitCode).toBe(1);
    expect(first.stderr).toContain("Task stubborn is not done. It was not merged.");
    expect(branches(directory)).toEqual(["agent/task-stubborn", "main"]);
    const kept = git(directory, "rev-parse", "agent/task-stubborn");

    const second = await main();
    expect(second.stdout).toContain("Planned: agent/task-stubborn\n");
    expect(git(directory, "rev-parse", "agent/task-stubborn")).toBe(kept);
    expect(second.exitCode).toBe(1);

    git(directory, "merge", "--quiet", "--no-edit", "agent/task-stubborn");
    expect(await main()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("There is no open task."),
    });
    expect(leftovers(directory)).toEqual([]);
  });

  it("parallel-planner-with-review: does not merge what the reviewer does not approve", async () => {
    const { directory, main } = await makeProject("parallel-planner-with-review", ["dubious", "green"]);
    const { exitCode, stderr } = await main();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Task dubious is not done. The reviewer does not approve: it is dubious");
    expect(contents(directory, "green.txt")).toBe("green\n");
    expect(existsSync(join(directory, "dubious.txt"))).toBe(false);
    expect(branches(directory)).toEqual(["agent/task-dubious", "main"]);
    expect(leftovers(directory)).toEqual([]);
  });

  it.each(Object.keys(templates))("%s: can be started anywhere in the repository", async (template) => {
    const { directory, main } = await makeProject(template, ["green"]);
    mkdirSync(join(directory, "deep/below"), { recursive: true });
    expect(await main("deep/below")).toMatchObject({ exitCode: 0 });
    expect(leftovers(directory)).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
    "parallel-planner: after %s no agent is at work any more, and the next start finishes what was begun",
    async (signal) => {
      const { directory, start, main } = await makeProject("parallel-planner", ["slow", "green"]);
      const { child, result } = start();
      await waitFor(() => isAtWork(directory));
      child.kill(signal);
      const { exitCode, stderr } = await result;
      if (signal === "SIGKILL") {
        expect(exitCode).toBe(null);
      } else {
        expect(exitCode).toBe(1);
        expect(stderr).toContain("Task slow is not done. Stopped.");
        expect(stderr).toContain("What task slow has not committed is in ");
      }
      await waitFor(() => processesWith(directory).length === 0);

      expect(await main()).toMatchObject({ exitCode: 0 });
      expect(contents(directory, "slow.txt")).toBe("slow\n");
      expect(contents(directory, "green.txt")).toBe("green\n");
      expect(branches(directory)).toEqual(["main"]);
    },
  );

  it.each(["SIGINT", "SIGTERM"] as const)(
    "simple-loop: after %s the commits of the task that was begun can be taken",
    async (signal) => {
      const { directory, start } = await makeProject("simple-loop", ["green", "pausing"]);
      const { child, result } = start();
      await waitFor(() => isAtWork(directory));
      child.kill(signal);
      const { exitCode, stdout, stderr } = await result;
      expect(exitCode).toBe(1);
      expect(stdout).toContain("The run was aborted.");
      expect(subjects(directory)).toEqual(["Task green: write it"]);
      const begun = subjects(directory, mergeProposedIn(stderr));
      expect(begun).toEqual(["Task green: write it", "Task pausing: begin"]);
      await waitFor(() => processesWith(directory).length === 0);
    },
  );
});
