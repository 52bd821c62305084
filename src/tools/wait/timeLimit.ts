import { LinkedController } from "./linkedController.ts";
import { orAborted } from "./onAbort.ts";

/** The longest that a timer can wait. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Work took longer than its limit. */
export class TimeLimitError extends Error {}

/**
 * Use it for work that ends when its signal is aborted: the work is waited for in any case. The signal is aborted after the
 * limit, which then rejects with a `TimeLimitError`, or with another signal. (Node.js 20 may collect an
 * `AbortSignal.timeout()` within an `AbortSignal.any()` as garbage before its time.)
 */
export const withTimeLimit = async <A>(
  limitMs: number | undefined,
  other: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<A>,
  problem = `it took longer than ${limitMs} ms`,
): Promise<A> => {
  const controller = new LinkedController(other);
  const tooLong = new TimeLimitError(problem);
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

export interface Patience {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Use it for a call that may never settle, such as one of a service's SDK that ignores its signal. Rejects with `signal.reason`
 * or with a `TimeLimitError`, and ignores a later answer.
 */
export const inTime = async <A>(
  call: (signal: AbortSignal) => Promise<A>,
  { timeoutMs, signal }: Patience,
): Promise<A> => {
  signal?.throwIfAborted();
  const problem = `there was no answer within ${timeoutMs} ms`;
  return withTimeLimit(timeoutMs, signal, (given) => orAborted(call(given), given), problem);
};
