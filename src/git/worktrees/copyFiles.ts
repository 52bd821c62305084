import { rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { CopyToWorktreeError, ProcessTimeoutError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { type ProcessResult, runProcess } from "../../process/runProcess.ts";

/** Limits of everything that is done for the items together. */
export interface CopyLimits {
  readonly signal: AbortSignal;
  /** By the monotonic clock. */
  readonly deadline: number;
}

/** Throws if the copying was aborted, or its time is over. */
export const requireTime = ({ signal, deadline }: CopyLimits): void => {
  signal.throwIfAborted();
  if (performance.now() > deadline) throw new ProcessTimeoutError("cp", 0, "", "");
};

/** Runs a program that ends when the time for copying is over. */
export const runInTime = (
  program: string,
  args: readonly string[],
  { signal, deadline }: CopyLimits,
): Promise<ProcessResult> =>
  runProcess({ program, args, signal, timeoutMs: Math.max(1, deadline - performance.now()) });

/** Far below what an argv may hold. */
const MAX_AT_ONCE = 200;

/** Copies files and directories into a directory in which there is nothing of their names. */
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

/**
 * Copies to a place where there is nothing, and moves the copy into the worktree when it is complete: whatever is at the
 * destination has been there as a whole.
 */
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
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await copyInto(item, [copied], join(destination, ".."), limits);
    await removeDirectory(copied);
  }
};
