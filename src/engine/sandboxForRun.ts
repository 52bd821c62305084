import type { SandboxHandle } from "../sandboxes/contract.ts";
import type { RunPlan } from "./runPlan.ts";

/** Where the agent, the hooks and the shell expressions start, in the sandbox. */
export const sandboxDirectory = ({ repository }: RunPlan, { worktreePath }: SandboxHandle): string =>
  `${worktreePath}/${repository.prefix}`.replace(/\/$/, "");

/** A handle whose commands have the env vars of the run. sanddune's own commands in the sandbox do without. */
export const sandboxForRun = ({ env }: RunPlan, handle: SandboxHandle): SandboxHandle => ({
  name: handle.name,
  worktreePath: handle.worktreePath,
  exec: (command, options = {}) =>
    handle.exec(command, { ...options, env: { ...env.values, ...options.env } }),
  copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
  close: () => handle.close(),
});
