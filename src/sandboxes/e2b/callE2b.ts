import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { inTime } from "../../tools/wait/timeLimit.ts";
import {
  isTransientStatus,
  readRetryAfter,
  type Transience,
  untilAccepted,
} from "../services/untilAccepted.ts";

/** The channel on which Node's HTTP client publishes the headers of every response. The SDK does not expose them. */
const HEADERS = "undici:request:headers";

interface AnswerHead {
  readonly response: { readonly statusCode: number; readonly headers: readonly Buffer[] };
}

const retryAfters = new WeakMap<object, number>();

/** Notes for an error when E2B allows the next request. That holds for all calls of an account. */
const noticingRetryAfter = async <A>(call: () => Promise<A>): Promise<A> => {
  let retryAfterMs: number | undefined;
  const notice = (message: unknown): void => {
    const { statusCode, headers } = (message as AnswerHead).response;
    if (!isTransientStatus(statusCode)) return;
    const at = headers.findIndex((name, index) => index % 2 === 0 && /^retry-after$/i.test(String(name)));
    retryAfterMs = at < 0 ? undefined : readRetryAfter(String(headers[at + 1]));
  };
  subscribe(HEADERS, notice);
  try {
    return await call();
  } catch (error) {
    if (retryAfterMs !== undefined) retryAfters.set(error as object, retryAfterMs);
    throw error;
  } finally {
    unsubscribe(HEADERS, notice);
  }
};

/** Settings with which the SDK observes a signal: with its own limit or retries, it loses the signal to Node.js 20's garbage collection. */
export interface E2bCall {
  readonly requestTimeoutMs: 0;
  readonly retries: 0;
  readonly signal: AbortSignal;
}

/** Sends one request, without another limit than the signal. */
export const requestOfE2b = <A>(ask: (call: E2bCall) => Promise<A>, signal: AbortSignal): Promise<A> =>
  noticingRetryAfter(() => ask({ requestTimeoutMs: 0, retries: 0, signal }));

const nameOf = (error: unknown): string => (error as Error | undefined)?.name ?? "";

export const statusOf = (error: unknown): number => {
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown };
  if (nameOf(error) === "RateLimitError") return 429;
  return nameOf(error) === "ServiceBusyError" ? 503 : Number(statusCode);
};

/** Whether a retry may help: no free capacity, or a failure of the service. */
export const e2bTransience = (error: unknown): Transience | undefined =>
  isTransientStatus(statusOf(error)) ? { retryAfterMs: retryAfters.get(error as object) } : undefined;

/** Sends a request, within a limit for all attempts. It is retried only after status 429: then E2B has done nothing. */
export const callE2b = <A>(
  ask: (call: E2bCall) => Promise<A>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<A> =>
  untilAccepted((leftMs) => inTime((given) => requestOfE2b(ask, given), { timeoutMs: leftMs, signal }), {
    timeoutMs,
    signal,
    transienceOf: (error) => (statusOf(error) === 429 ? e2bTransience(error) : undefined),
  });
