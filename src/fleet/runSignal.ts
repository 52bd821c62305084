import { TaskAbortedError } from "../errors.ts";
import { onAbort } from "../tools/wait/onAbort.ts";

/** The signal of one run. Dispose of it when the run has ended. */
export interface RunSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Forwards the abort of a fleet, or of one of its tasks, to a run. Each run is aborted with its own error, because that
 * error carries the run's progress.
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
