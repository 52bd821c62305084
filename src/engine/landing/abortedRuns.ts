import type { AbortedRun } from "../../options/results.ts";

/** The runs that each signal has aborted, as long as the signal exists. */
const aborted = new WeakMap<AbortSignal, AbortedRun[]>();

/** Signals of callers, by those that were made of them and others. */
const callersSignals = new WeakMap<AbortSignal, AbortSignal>();

/** A signal that is aborted like the caller's, or like one of ours. */
export const withCallersSignal = (ours: AbortSignal, callers: AbortSignal | undefined): AbortSignal => {
  if (callers === undefined) return ours;
  const either = AbortSignal.any([ours, callers]);
  callersSignals.set(either, callers);
  return either;
};

/** Notes what a run had reached that is over, if its caller has aborted it. */
export const noteAborted = (signal: AbortSignal | undefined, run: AbortedRun): void => {
  const callers = signal && (callersSignals.get(signal) ?? signal);
  if (callers?.aborted) aborted.set(callers, [...runsAbortedBy(callers), run]);
};

/** The runs that a caller's signal has aborted, in the order in which they ended. */
export const runsAbortedBy = (signal: AbortSignal): readonly AbortedRun[] => aborted.get(signal) ?? [];
