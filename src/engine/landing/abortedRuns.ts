import type { AbortedRun } from "../../results.ts";

/** What each signal has aborted. A signal that is gone takes its list along. */
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

/** What the runs had reached that a signal of the caller's has aborted, in the order in which they ended. */
export const runsAbortedBy = (signal: AbortSignal): readonly AbortedRun[] => aborted.get(signal) ?? [];
