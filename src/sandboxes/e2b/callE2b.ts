import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { inTime } from "../../tools/wait/timeLimit.ts";
import {
  isTransientStatus,
  readRetryAfter,
  type Transience,
  untilAccepted,
} from "../services/untilAccepted.ts";

/** Where the HTTP client of Node.js publishes the head of every answer. The SDK keeps that to itself. */
const HEADERS = "undici:request:headers";

interface AnswerHead {
  readonly response: { readonly statusCode: number; readonly headers: readonly Buffer[] };
}

const retryAfters = new WeakMap<object, number>();

/** Notes beside an error of a call when E2B wants to be asked again. That is for all calls of an account, not for one. */
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

/** Settings of the SDK with which it heeds a signal: it loses one beside a limit or repetitions of its own when Node.js 20 collects garbage. */
export interface E2bCall {
  readonly requestTimeoutMs: 0;
  readonly retries: 0;
  readonly signal: AbortSignal;
}

/** Sends one request. It ends with the signal, and has no other limit. */
export const requestOfE2b = <A>(ask: (call: E2bCall) => Promise<A>, signal: AbortSignal): Promise<A> =>
  noticingRetryAfter(() => ask({ requestTimeoutMs: 0, retries: 0, signal }));

const nameOf = (error: unknown): string => (error as Error | undefined)?.name ?? "";

export const statusOf = (error: unknown): number => {
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown };
  if (nameOf(error) === "RateLimitError") return 429;
  return nameOf(error) === "ServiceBusyError" ? 503 : Number(statusCode);
};

/** Whether E2B has refused for the moment: no room, or a failure of its own. */
export const e2bTransience = (error: unknown): Transience | undefined =>
  isTransientStatus(statusOf(error)) ? { retryAfterMs: retryAfters.get(error as object) } : undefined;

/** Asks E2B, within a limit for all tries. It is asked again only when it has too many requests: then it has done nothing. */
export const callE2b = <A>(
  ask: (call: E2bCall) => Promise<A>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<A> =>
  untilAccepted((leftMs) => inTime((given) => requestOfE2b(ask, given), { timeoutMs: leftMs, signal }), {
    timeoutMs,
    signal,
    transienceOf: (error) => (statusOf(error) === 429 ? e2bTransience(error) : undefined),
  });
