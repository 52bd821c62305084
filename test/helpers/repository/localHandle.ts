import { copyFile, cp, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { runProcess } from "../../../src/process/runProcess.ts";
import type { BindMountSandboxHandle, IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";

/** Runs commands with `sh` in a directory of the host: real git for the scripts that run in sandboxes, and no sandbox. */
export const localHandle = (
  worktreePath: string,
  rewrite = (command: string) => command,
): BindMountSandboxHandle & IsolatedSandboxHandle => ({
  name: "local",
  worktreePath,
  exec: (command, { cwd = worktreePath, env, stdin = "", timeoutMs, signal } = {}) =>
    runProcess({
      program: "sh",
      args: ["-c", "--", rewrite(command)],
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: worktreePath, GIT_CONFIG_NOSYSTEM: "1", ...env },
      stdin,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal !== undefined && { signal }),
    }),
  copyFileIn: (hostPath, sandboxPath) => copyFile(hostPath, sandboxPath),
  copyFileOut: (sandboxPath, hostPath) => copyFile(sandboxPath, hostPath),
  copyIn: async (hostPath, sandboxPath) => {
    await mkdir(dirname(sandboxPath), { recursive: true });
    await cp(hostPath, sandboxPath, { recursive: true, verbatimSymlinks: true });
  },
  close: async () => {},
});
