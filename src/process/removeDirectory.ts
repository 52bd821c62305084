import { rm } from "node:fs/promises";
import { HostFileError } from "../errors.ts";
import { runProcess } from "./runProcess.ts";

const TIMEOUT_MS = 60_000;

/**
 * Removes a directory and everything in it, including read-only directories (package caches have them) and paths that are
 * too long for Node.js: an agent can leave both.
 */
export const removeDirectory = async (path: string): Promise<void> => {
  const start = (program: string, args: string[]) =>
    runProcess({ program, args, captureBytes: 1000, timeoutMs: TIMEOUT_MS });
  await rm(path, { recursive: true, force: true }).catch(async (refusal: NodeJS.ErrnoException) => {
    await start("chmod", ["-R", "u+rwx", "--", path]);
    const { exitCode, stderr } = await start("rm", ["-rf", "--", path]);
    const { code = "unknown", path: refusedPath = path } = refusal;
    if (exitCode !== 0) throw new HostFileError(code, refusedPath, { cause: new Error(stderr.trim()) });
  });
};
