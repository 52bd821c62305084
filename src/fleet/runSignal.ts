import { TaskAbortedError } from "../errors.ts";
import { onAbort } from "../tools/wait/onAbort.ts";

/** Forwards an abort to one run, with an error of its own, because that carries the run's progress. */
export const signalFor = (
  ...causes: readonly (AbortSignal | undefined)[]
): { readonly signal: AbortSignal } & Disposable => {
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
