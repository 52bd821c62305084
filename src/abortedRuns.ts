import { runsAbortedBy } from "./engine/landing/abortedRuns.ts";
import { InvalidOptionsError } from "./errors.ts";
import type { AbortedRun } from "./options/results.ts";

/**
 * Lists the runs that this signal aborted, in the order in which they ended, each with its branch, commits, worktree and
 * log. An aborted `run()` rejects with `signal.reason` itself, which cannot carry them. Runs that had not begun are not
 * listed.
 *
 * @example
 * const signal = AbortSignal.timeout(600_000);
 * try {
 *   await run({ ...options, signal });
 * } catch (error) {
 *   for (const { branch, commits, preservedWorktreePath } of abortedRuns(signal)) {
 *     console.log(branch, commits, preservedWorktreePath);
 *   }
 * }
 */
export const abortedRuns = (signal: AbortSignal): readonly AbortedRun[] => {
  if (!(signal instanceof AbortSignal)) throw new InvalidOptionsError("signal", "must be an AbortSignal");
  return runsAbortedBy(signal);
};
