import { pause } from "./pause.ts";

export interface RetryPolicy {
  /** How often the work is attempted at most; as often as the other limits allow when it is left out. */
  readonly attempts?: number;
  /** For all attempts and the pauses between them; no limit when it is left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * How many milliseconds to wait after a failure; `undefined` if another attempt is of no use. `failures` counts the attempts
   * that have failed, from 1.
   */
  pauseAfter(error: unknown, failures: number): number | undefined | Promise<number | undefined>;
}

/** Pauses that double, beginning with `firstMs`. */
export const doubling = (firstMs: number, failures: number): number => firstMs * 2 ** (failures - 1);

/** A pause that is up to a half shorter or longer: processes that failed at the same moment do not retry at the same moment. */
export const scattered = (ms: number): number => ms * (0.5 + Math.random());

/**
 * Use it for work that may succeed later. Rejects with the last error when the policy allows no further attempt, or with
 * `signal.reason`. The work gets the milliseconds that are left.
 */
export const retry = async <A>(
  work: (leftMs: number) => Promise<A>,
  {
    attempts = Number.POSITIVE_INFINITY,
    timeoutMs = Number.POSITIVE_INFINITY,
    signal,
    pauseAfter,
  }: RetryPolicy,
): Promise<A> => {
  const endsAt = performance.now() + timeoutMs;
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted();
    try {
      return await work(Math.ceil(endsAt - performance.now()));
    } catch (error) {
      signal?.throwIfAborted();
      const pauseMs = failures >= attempts ? undefined : await pauseAfter(error, failures);
      if (pauseMs === undefined || performance.now() + pauseMs >= endsAt) throw error;
      if (pauseMs > 0) await pause(pauseMs, signal);
      // On a busy machine a pause may take longer.
      if (performance.now() >= endsAt && !signal?.aborted) throw error;
    }
  }
};
