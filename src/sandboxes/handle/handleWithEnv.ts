import type { ResolvedEnv } from "../../envVars/envValues.ts";
import type { SandboxHandle } from "../contract.ts";

/** Where the agent, the hooks and the shell expressions start, in the sandbox. */
export const sandboxDirectory = (
  { prefix }: { readonly prefix: string },
  { worktreePath }: SandboxHandle,
): string => `${worktreePath}/${prefix}`.replace(/\/$/, "");

/** A handle whose commands get the session's env vars. sanddune's own commands in the sandbox do not. */
export const withEnv = ({ values }: ResolvedEnv, handle: SandboxHandle): SandboxHandle => {
  const { interactiveExec, snapshot } = handle;
  return {
    name: handle.name,
    worktreePath: handle.worktreePath,
    exec: (command, options = {}) => handle.exec(command, { ...options, env: { ...values, ...options.env } }),
    ...(interactiveExec && {
      interactiveExec: (command, options = {}) =>
        interactiveExec(command, { ...options, env: { ...values, ...options.env } }),
    }),
    copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
    ...(snapshot && { snapshot: (options) => snapshot(options) }),
    close: () => handle.close(),
  };
};
