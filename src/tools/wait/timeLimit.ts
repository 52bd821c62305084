import { LinkedController } from "./linkedController.ts";
import { orAborted } from "./onAbort.ts";

/** The longest that a timer can wait. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Work took longer than its limit. */
export class TimeLimitError extends Error {}

/**
 * Waits for work that ends soon after its signal is aborted: after a time, if there is a limit, or with another signal. Rejects
 * with a `TimeLimitError` after that time. (An `AbortSignal.timeout` within an `AbortSignal.any` would do, but Node.js 20
 * may collect it as garbage before its time has come.)
 */
export const withTimeLimit = async <A>(
  limitMs: number | undefined,
  other: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  const controller = new LinkedController(other);
  const tooLong = new TimeLimitError(`it took longer than ${limitMs} ms`);
  const timer = limitMs === undefined ? undefined : setTimeout(() => controller.abort(tooLong), limitMs);
  try {
    return await work(controller.signal);
  } catch (reason) {
    throw controller.signal.reason === tooLong ? tooLong : reason;
  } finally {
    clearTimeout(timer);
    controller[Symbol.dispose]();
  }
};

/** How long an answer is waited for. */
export interface Patience {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for a call that may never answer, such as one of a service's SDK: it may ignore the signal that it gets. Rejects with
 * `signal.reason`, or with a `TimeLimitError`; a later answer is ignored.
 */
export const inTime = async <A>(
  call: (signal: AbortSignal) => Promise<A>,
  { timeoutMs, signal }: Patience,
): Promise<A> => {
  signal?.throwIfAborted();
  try {
    return await withTimeLimit(timeoutMs, signal, (given) => orAborted(call(given), given));
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    throw new TimeLimitError(`there was no answer within ${timeoutMs} ms`);
  }
};
