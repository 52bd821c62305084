import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ScriptedStep } from "../../src/index.ts";
import { bundle } from "../helpers/bundle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { locksOf, shell } from "../security/support.ts";
import { branchStrategy, subjects, work, worktreeIn } from "./worktrees.ts";

describe("SIGKILL of a process with a worktree and a sandbox open", () => {
  const children = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });

  const SOURCES = join(import.meta.dirname, "../../src");
  const program = (cwd: string, steps: readonly ScriptedStep[]): string => `
    import { createWorktree, scripted } from ${JSON.stringify(join(SOURCES, "index.ts"))};
    import { bubblewrap } from ${JSON.stringify(join(SOURCES, "sandboxes/bubblewrap.ts"))};
    const worktree = await createWorktree({ cwd: ${JSON.stringify(cwd)}, branchStrategy: ${JSON.stringify(branchStrategy)} });
    const sandbox = await worktree.createSandbox({ sandbox: bubblewrap() });
    await sandbox.run({ agent: scripted([{ commit: "Landed" }]), prompt: "Work" });
    await sandbox.run({ agent: scripted(${JSON.stringify(steps)}), prompt: "Work" });
    setInterval(() => {}, 1000);
  `;
  const killWhenReached = async (cwd: string, steps: readonly ScriptedStep[]): Promise<void> => {
    const path = join(temporaryDirectory(), "holder.ts");
    writeFileSync(path, program(cwd, steps));
    const child = spawn(process.execPath, [bundle(path)], { stdio: ["ignore", "ignore", "inherit"] });
    children.add(child);
    const worktrees = join(cwd, ".sanddune/worktrees");
    const isReached = () =>
      existsSync(worktrees) &&
      readdirSync(worktrees).some((name) => existsSync(join(worktrees, name, "reached")));
    await waitFor(isReached);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
  };
  /** What was at the tip of the branch in a sandbox whose process was killed. */
  const tipsInSandboxes = (cwd: string): string[] => {
    const runs = join(cwd, ".sanddune/runs");
    return readdirSync(runs)
      .map((id) => join(runs, id, "files/git"))
      .filter((path) => existsSync(join(path, "refs/heads/agent/work")))
      .map((path) => {
        const sha = readFileSync(join(path, "refs/heads/agent/work"), "utf8").trim();
        const env = { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, "objects") };
        return execFileSync("git", ["log", "-1", "--format=%s", sha], {
          cwd,
          encoding: "utf8",
          env,
          stdio: "pipe",
        }).trim();
      });
  };

  const IN_FLIGHT = { commit: "In flight", files: { "work.txt": "work\n" } };
  it.each<[string, ScriptedStep[]]>([
    ["while an agent works", [IN_FLIGHT, shell("echo open > open.txt; touch reached; sleep 60")]],
    ["when an agent has just worked", [IN_FLIGHT, shell("echo open > open.txt; touch reached")]],
  ])(
    "%s loses nothing that was committed, and the next createWorktree() on the branch takes over",
    async (_, steps) => {
      const cwd = temporaryRepository();
      await killWhenReached(cwd, steps);
      const landed = subjects(cwd).split("\n");
      expect(landed[0]).toBe("Landed");
      expect([...landed, ...tipsInSandboxes(cwd)]).toContain("In flight");

      const worktree = await worktreeIn(cwd);
      expect(worktree.warnings).toEqual([expect.stringContaining("taken over")]);
      await work(worktree, [shell("rm reached; cat work.txt open.txt > seen.txt"), { commit: "After" }]);
      expect(git(cwd, "show", "agent/work:seen.txt")).toBe("work\nopen");
      expect((await worktree.close()).preservedWorktreePath).toBeUndefined();
      expect(locksOf(cwd)).toEqual([]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
    },
  );
});
