import { onAbort } from "./onAbort.ts";

/** Use it between two looks at something. Resolves after a time or on an abort, so look at the signal next. */
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
