import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BranchDeletedError, SandduneError, type Worktree } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { fireOnHost } from "../security/gitPayloads.ts";
import { locksOf, play, STRATEGIES, shell } from "../security/support.ts";
import { branchStrategy, leaveDirty, subjects, task, work, worktreeIn } from "./worktrees.ts";

describe("a worktree whose", () => {
  const calls: [string, (worktree: Worktree) => Promise<unknown>][] = [
    ["run()", (worktree) => work(worktree, [{ commit: "Never" }])],
    ["createSandbox()", (worktree) => worktree.createSandbox({ sandbox: testIsolated() })],
  ];

  it.each(calls)("branch the user has deleted says so in %s, and can be closed", async (_, call) => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    git(cwd, "update-ref", "-d", "refs/heads/agent/work");
    const error = await call(worktree).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BranchDeletedError);
    expect((error as Error).message).toContain("agent/work was deleted");
    const { warnings, preservedWorktreePath } = await worktree.close();
    expect(preservedWorktreePath).toBe(worktree.worktreePath);
    expect(warnings).toEqual([expect.stringContaining("refs/sanddune/runs/")]);
    expect(locksOf(cwd)).toEqual([]);
  });

  it.each(calls)("directory the user has deleted says so in %s", async (_, call) => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    rmSync(worktree.worktreePath, { recursive: true });
    const error = await call(worktree).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandduneError);
    expect((error as Error).message).toContain(worktree.worktreePath);
    await worktree.close();
  });

  it("directory the user has deleted is not said to be kept when it is closed, and the branch can be used again", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    const sandbox = await worktree.createSandbox({ sandbox: bubblewrap() });
    await sandbox.run(task({ commit: "One" }));
    rmSync(worktree.worktreePath, { recursive: true });
    await expect(sandbox.exec("git commit --allow-empty -m Two")).rejects.toBeInstanceOf(SandduneError);
    const { preservedWorktreePath } = await worktree.close();
    expect(preservedWorktreePath).toBeUndefined();
    expect(locksOf(cwd)).toEqual([]);
    await play(cwd, [{ commit: "Again" }], { branchStrategy });
    expect(subjects(cwd)).toBe("One\nAgain");
  });
});

it("a worktree whose directory the user has deleted leaves no temporary branch when everything has landed", async () => {
  const cwd = temporaryRepository();
  const worktree = await worktreeIn(cwd, { branchStrategy: STRATEGIES["merge-to-head"] });
  await work(worktree, [{ commit: "One" }]);
  rmSync(worktree.worktreePath, { recursive: true });
  await worktree.close();
  expect(subjects(cwd, "main")).toBe("Initial commit\nOne");
  expect(leftovers(cwd)).toEqual([]);
});

it("a kept worktree that the user has emptied is made anew", async () => {
  const cwd = temporaryRepository();
  const path = await leaveDirty(cwd);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  const worktree = await worktreeIn(cwd);
  expect((await work(worktree, [shell("cat README.md"), { commit: "One" }])).commits).toHaveLength(1);
  expect(await worktree.close()).toEqual({ commits: [], warnings: [] });
  expect(leftovers(cwd)).toEqual([]);
});

describe("a repository inside a worktree", () => {
  const plant = (fire: string) => `git init -q sub; git -C sub config core.fsmonitor '${fire}; :'`;

  it.each<[string, (worktree: Worktree, line: string) => Promise<unknown>]>([
    ["worktree.run()", (worktree, line) => work(worktree, [shell(line)])],
    [
      "sandbox.run()",
      async (worktree, line) =>
        (await worktree.createSandbox({ sandbox: bubblewrap() })).run(task(shell(line))),
    ],
    [
      "sandbox.exec()",
      async (worktree, line) => (await worktree.createSandbox({ sandbox: bubblewrap() })).exec(line),
    ],
  ])("that an agent has made is disarmed before %s resolves", async (_, call) => {
    const worktree = await worktreeIn(temporaryRepository());
    const canaries = temporaryDirectory();
    const sub = join(worktree.worktreePath, "sub");
    await call(worktree, plant(fireOnHost(join(canaries, "fired"))));
    expect(existsSync(sub)).toBe(true);
    expect(existsSync(join(sub, ".git"))).toBe(false);
    execFileSync("git", ["status"], { cwd: sub, stdio: "ignore" });
    expect(readdirSync(canaries)).toEqual([]);
    await worktree.close();
  });

  it("that the user has made there between two runs is left alone", async () => {
    const worktree = await worktreeIn(temporaryRepository());
    await work(worktree, [{ commit: "One" }]);
    git(worktree.worktreePath, "init", "--quiet", "vendor");
    const { warnings } = await work(worktree, [shell("ls vendor")]);
    expect(existsSync(join(worktree.worktreePath, "vendor/.git"))).toBe(true);
    expect(warnings).toEqual([]);
    await worktree.close();
  });
});
