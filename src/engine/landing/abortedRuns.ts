import type { AbortedRun } from "../../options/results.ts";

/** The runs that each signal aborted, kept as long as the signal exists. */
const aborted = new WeakMap<AbortSignal, AbortedRun[]>();

/** The caller's signal of each combined signal. */
const callersSignals = new WeakMap<AbortSignal, AbortSignal>();

/** Combines the caller's signal with one of ours. */
export const withCallersSignal = (ours: AbortSignal, callers: AbortSignal | undefined): AbortSignal => {
  if (callers === undefined) return ours;
  const either = AbortSignal.any([ours, callers]);
  callersSignals.set(either, callers);
  return either;
};

/** Records a run that has ended, if its caller aborted it. */
export const noteAborted = (signal: AbortSignal | undefined, run: AbortedRun): void => {
  const callers = signal && (callersSignals.get(signal) ?? signal);
  if (callers?.aborted) aborted.set(callers, [...runsAbortedBy(callers), run]);
};

/** The runs that a caller's signal aborted, in the order in which they ended. */
export const runsAbortedBy = (signal: AbortSignal): readonly AbortedRun[] => aborted.get(signal) ?? [];
