import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BranchDeletedError, SandduneError, type Worktree } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { fireOnHost } from "../../security/git/gitPayloads.ts";
import { locksOf, play, STRATEGIES, shell } from "../../security/support.ts";
import { branchStrategy, leaveDirty, subjects, task, work, worktreeIn } from "../run/worktrees.ts";

describe("a worktree whose", () => {
  const calls: ((worktree: Worktree) => Promise<unknown>)[] = [
    (worktree) => work(worktree, [{ commit: "Never" }]),
    (worktree) => worktree.createSandbox({ sandbox: testIsolated() }),
  ];

  it("branch the user has deleted says so in every call, and can be closed", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    git(cwd, "update-ref", "-d", "refs/heads/agent/work");
    for (const call of calls) {
      const error = await call(worktree).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(BranchDeletedError);
      expect((error as Error).message).toContain("agent/work was deleted");
    }
    const { warnings, preservedWorktreePath } = await worktree.close();
    expect(preservedWorktreePath).toBe(worktree.worktreePath);
    expect(warnings).toEqual([expect.stringContaining("refs/sanddune/runs/")]);
    expect(locksOf(cwd)).toEqual([]);
  });

  it("directory the user has deleted says so in every call", async () => {
    const cwd = temporaryRepository();
    const worktree = await worktreeIn(cwd);
    rmSync(worktree.worktreePath, { recursive: true });
    for (const call of calls) {
      const error = await call(worktree).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandduneError);
      expect((error as Error).message).toContain(worktree.worktreePath);
    }
    await worktree.close();
  });
});

describeWith(["bubblewrap"], "a worktree with a bind-mount sandbox whose", () => {
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
  expect(await worktree.close()).toEqual({ commits: expect.any(Array), warnings: [] });
  expect(leftovers(cwd)).toEqual([]);
});

describeWith(["bubblewrap"], "a repository inside a worktree", () => {
  it("that an agent has made is disarmed before worktree.run(), sandbox.run() or sandbox.exec() resolves", async () => {
    const worktree = await worktreeIn(temporaryRepository());
    const canaries = temporaryDirectory();
    const plant = (name: string) =>
      `git init -q ${name}; git -C ${name} config core.fsmonitor '${fireOnHost(join(canaries, name))}; :'`;
    const expectDisarmed = (name: string) => {
      const path = join(worktree.worktreePath, name);
      expect(existsSync(path)).toBe(true);
      expect(existsSync(join(path, ".git"))).toBe(false);
      execFileSync("git", ["status"], { cwd: path, stdio: "ignore" });
      expect(readdirSync(canaries)).toEqual([]);
    };
    await work(worktree, [shell(plant("one"))], bubblewrap());
    expectDisarmed("one");
    const sandbox = await worktree.createSandbox({ sandbox: bubblewrap() });
    await sandbox.run(task(shell(plant("two"))));
    expectDisarmed("two");
    await sandbox.exec(plant("three"));
    expectDisarmed("three");
    await worktree.close();
  });

  it("that the user has made there between two runs is left alone", async () => {
    const worktree = await worktreeIn(temporaryRepository());
    await work(worktree, [{ commit: "One" }], bubblewrap());
    git(worktree.worktreePath, "init", "--quiet", "vendor");
    const { warnings } = await work(worktree, [shell("ls vendor")], bubblewrap());
    expect(existsSync(join(worktree.worktreePath, "vendor/.git"))).toBe(true);
    expect(warnings).toEqual([]);
    await worktree.close();
  });
});
