import { rm } from "node:fs/promises";
import { runProcess } from "../process/runProcess.ts";

/** Removes a directory with all it holds, read-only directories (such as package caches make) included. */
export const removeDirectory = async (path: string): Promise<void> => {
  const remove = () => rm(path, { recursive: true, force: true });
  await remove().catch(async () => {
    await runProcess({
      program: "chmod",
      args: ["-R", "u+rwx", "--", path],
      captureBytes: 0,
      timeoutMs: 10_000,
    });
    await remove();
  });
};
