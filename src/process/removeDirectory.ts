import { rm } from "node:fs/promises";
import { runProcess } from "./runProcess.ts";

const TIMEOUT_MS = 60_000;

/**
 * Removes a directory with all it holds: directories that are read-only (such as package caches make) and paths that
 * are too long for Node, both of which an agent can leave behind.
 */
export const removeDirectory = async (path: string): Promise<void> => {
  const start = (program: string, args: string[]) =>
    runProcess({ program, args, captureBytes: 1000, timeoutMs: TIMEOUT_MS });
  await rm(path, { recursive: true, force: true }).catch(async (cause) => {
    await start("chmod", ["-R", "u+rwx", "--", path]);
    const { exitCode, stderr } = await start("rm", ["-rf", "--", path]);
    if (exitCode !== 0) throw new Error(stderr.trim(), { cause });
  });
};
