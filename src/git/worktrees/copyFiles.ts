import { rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { CopyToWorktreeError, ProcessTimeoutError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { type ProcessResult, runProcess } from "../../process/runProcess.ts";
import { hasCode } from "../../tools/files/hasCode.ts";

/** Limits for all items together. */
export interface CopyLimits {
  readonly signal: AbortSignal;
  /** By the monotonic clock. */
  readonly deadline: number;
}

/** Throws if copying was aborted or has timed out. */
export const requireTime = ({ signal, deadline }: CopyLimits): void => {
  signal.throwIfAborted();
  if (performance.now() > deadline) throw new ProcessTimeoutError("cp", 0, "", "");
};

/** Runs a program until the deadline. One that ends later has not ended in time, even if this process was too busy to stop it. */
export const runInTime = async (
  program: string,
  args: readonly string[],
  limits: CopyLimits,
): Promise<ProcessResult> => {
  const { signal, deadline } = limits;
  const timeoutMs = Math.max(1, deadline - performance.now());
  const result = await runProcess({ program, args, signal, timeoutMs });
  requireTime(limits);
  return result;
};

/** Far below the limit of an argv. */
const MAX_AT_ONCE = 200;

/** Copies files and directories into a directory that has no entries of the same names. */
export const copyInto = async (
  item: string,
  sources: readonly string[],
  directory: string,
  limits: CopyLimits,
): Promise<void> => {
  for (let done = 0; done < sources.length; done += MAX_AT_ONCE) {
    const some = sources.slice(done, done + MAX_AT_ONCE);
    const { exitCode, stderr } = await runInTime(
      "cp",
      [...hostSystem().copyOptions, "--", ...some, `${directory}/`],
      limits,
    );
    if (exitCode !== 0) throw new CopyToWorktreeError(item, stderr.trim());
  }
};

/** Copies to a temporary directory and moves that: the destination never holds half a copy. */
export const copyWhole = async (
  item: string,
  source: string,
  destination: string,
  temporaryDirectory: string,
  limits: CopyLimits,
): Promise<void> => {
  await copyInto(item, [source], temporaryDirectory, limits);
  const copied = join(temporaryDirectory, basename(source));
  try {
    await rename(copied, destination);
  } catch (error) {
    if (!hasCode(error, "EXDEV")) throw error;
    await copyInto(item, [copied], join(destination, ".."), limits);
    await removeDirectory(copied);
  }
};
