import { doubling, retry, scattered } from "../../tools/wait/retry.ts";
import { TimeLimitError } from "../../tools/wait/timeLimit.ts";

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;

/** A refusal after which the same request may succeed later. */
export interface Transience {
  /** When the service allows the next request; not set if it has not said so. */
  readonly retryAfterMs?: number | undefined;
}

export interface Persistence {
  /** For all tries and the pauses between them. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** `undefined` if a retry cannot help. */
  transienceOf(error: unknown): Transience | undefined;
}

/**
 * Asks a service again that has refused a request for the moment: after the time that it wants, or with growing pauses.
 * Rejects with its last error when there is no use in it, or no time left, and with `signal.reason`.
 */
export const untilAccepted = <A>(
  ask: (leftMs: number) => Promise<A>,
  { timeoutMs, signal, transienceOf }: Persistence,
): Promise<A> => {
  let refusal: unknown;
  const askOnce = async (leftMs: number) => {
    try {
      return await ask(leftMs);
    } catch (error) {
      // The refusal says more than that there was no time left for another answer.
      throw error instanceof TimeLimitError && refusal !== undefined ? refusal : error;
    }
  };
  return retry(askOnce, {
    attempts: ATTEMPTS,
    timeoutMs,
    signal,
    pauseAfter: (error, failures) => {
      const transience = transienceOf(error);
      if (transience === undefined) return undefined;
      refusal = error;
      return transience.retryAfterMs ?? scattered(doubling(FIRST_PAUSE_MS, failures));
    },
  });
};

/** The header `Retry-After`, in seconds or as a date. */
export const readRetryAfter = (header: string | null | undefined): number | undefined => {
  if (!header) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
};

/** Whether an answer of HTTP says that there was no room, or that the service failed. */
export const isTransientStatus = (status: number): boolean => status === 429 || status >= 500;
