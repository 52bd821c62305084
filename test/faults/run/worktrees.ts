import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateWorktreeOptions,
  createWorktree,
  type ScriptedStep,
  scripted,
  type Worktree,
} from "../../../src/index.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git } from "../../helpers/repository/repository.ts";
import { STRATEGIES } from "../../security/support.ts";

export const branchStrategy = STRATEGIES.branch;
export const worktreeIn = (cwd: string, overrides: Partial<CreateWorktreeOptions> = {}) =>
  createWorktree({ cwd, branchStrategy, ...overrides });
export const task = (...steps: ScriptedStep[]) => ({ agent: scripted(steps), prompt: "Work" });
export const work = (
  worktree: Worktree,
  steps: ScriptedStep[],
  sandbox: SandboxProvider = testIsolated(),
  signal?: AbortSignal,
) => worktree.run({ ...task(...steps), sandbox, ...(signal && { signal }) });
export const subjects = (cwd: string, range = "main..agent/work") =>
  git(cwd, "log", "--reverse", "--format=%s", range);

/** A worktree of an earlier session, with a file in it that is in no commit. */
export const leaveDirty = async (cwd: string): Promise<string> => {
  const worktree = await worktreeIn(cwd);
  writeFileSync(join(worktree.worktreePath, "open.txt"), "open\n");
  return (await worktree.close()).preservedWorktreePath as string;
};
