import { onAbort } from "../process/abort/onAbort.ts";

/** An answer did not come in time. */
export class NoAnswerError extends Error {}

/**
 * Waits for the answer of a library that cannot be told to give up. Rejects with `signal.reason`, or with a
 * `NoAnswerError`; what comes after that is of no interest.
 */
export const inTime = async <A>(
  answer: Promise<A>,
  {
    timeoutMs,
    signal,
  }: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<A> => {
  let stopWaiting = () => {};
  const noAnswer = new Promise<never>((_, reject) => {
    const isLate = () => reject(new NoAnswerError(`there was no answer within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(isLate, timeoutMs);
    const stopFollowing = onAbort(signal, reject);
    stopWaiting = () => {
      clearTimeout(timer);
      stopFollowing();
    };
  });
  try {
    return await Promise.race([noAnswer, answer]);
  } finally {
    stopWaiting();
  }
};
