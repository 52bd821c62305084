import { onAbort } from "./onAbort.ts";

/** Resolves after a time, or when the signal is aborted: the caller looks at the signal next. */
export const pause = (ms: number, signal?: AbortSignal, { ref = true } = {}): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      stopWaiting();
      resolve();
    }, ms);
    if (!ref) timer.unref();
    const stopWaiting = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
