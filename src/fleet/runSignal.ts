import { TaskAbortedError } from "../errors.ts";
import { onAbort } from "../tools/wait/onAbort.ts";

/** The signal of one run, for as long as the run needs it. */
export interface RunSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Passes the abort of a fleet, or of one of its tasks, on to a run. Each run is aborted with an error of its own, because
 * that error tells what the run had reached.
 */
export const signalFor = (...causes: readonly (AbortSignal | undefined)[]): RunSignal => {
  const controller = new AbortController();
  const abort = (cause: unknown) => controller.abort(new TaskAbortedError({ cause }));
  const stopFollowing = causes.map((cause) => onAbort(cause, abort));
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const stop of stopFollowing) stop();
    },
  };
};
