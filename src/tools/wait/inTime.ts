import { orAborted } from "./onAbort.ts";
import { TimeLimitError, withTimeLimit } from "./timeLimit.ts";

/** An answer did not come in time. */
export class NoAnswerError extends Error {}

/** How long an answer is waited for. */
export interface Patience {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls something that may never answer, such as the SDK of a service. The call gets a signal that is aborted when it is given
 * up, but nothing depends on its being heeded. Rejects with `signal.reason`, or with a `NoAnswerError`; what comes after that
 * is ignored.
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
    throw new NoAnswerError(`there was no answer within ${timeoutMs} ms`);
  }
};
