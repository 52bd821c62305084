import { onAbort } from "./onAbort.ts";

/** The longest that a timer can wait. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Work took longer than its limit. */
export class TimeLimitError extends Error {}

/**
 * Work that is aborted after a time, if there is a limit, or when another signal says so. It rejects with a
 * `TimeLimitError` that says how long it took. (An `AbortSignal.timeout` within an `AbortSignal.any` would do, but may be
 * collected as garbage in Node.js 20 before its time has come.)
 */
export const withTimeLimit = async <A>(
  limitMs: number | undefined,
  other: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  const controller = new AbortController();
  const tooLong = new TimeLimitError(`it took longer than ${limitMs} ms`);
  const timer = limitMs === undefined ? undefined : setTimeout(() => controller.abort(tooLong), limitMs);
  const stopFollowing = onAbort(other, (reason) => controller.abort(reason));
  try {
    return await work(controller.signal);
  } catch (reason) {
    throw controller.signal.reason === tooLong ? tooLong : reason;
  } finally {
    clearTimeout(timer);
    stopFollowing();
  }
};
