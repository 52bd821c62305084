import { inTime } from "../../tools/wait/timeLimit.ts";
import type { ServiceLimits } from "./serviceLimits.ts";
import { type Persistence, untilAccepted } from "./untilAccepted.ts";

/** After giving up: how long to wait for a sandbox that still arrives, and for its end. */
const LATE_MS = 5000;

/** A request to a service for a sandbox. */
export interface Making<Sandbox> {
  /** Sends the request. The signal aborts it. */
  ask(signal: AbortSignal): Promise<Sandbox>;
  /** Ends a sandbox that arrived too late. */
  end(sandbox: Sandbox): Promise<void>;
  /** Ends a sandbox whose creation was not answered. */
  endUnknown(signal: AbortSignal): Promise<void>;
  readonly limits: ServiceLimits;
  readonly signal?: AbortSignal | undefined;
  readonly transienceOf: Persistence["transienceOf"];
}

const makeOnce = async <Sandbox>(
  { ask, end, endUnknown, limits, signal }: Making<Sandbox>,
  timeoutMs: number,
): Promise<Sandbox> => {
  const cut = new AbortController();
  const request = ask(cut.signal);
  try {
    return await inTime(() => request, { timeoutMs, signal });
  } catch (error) {
    // Aborting the request at once might leave a sandbox whose id is unknown.
    const lateMs = Math.min(LATE_MS, limits.requestTimeoutMs);
    const ended = request.then(end);
    await inTime(() => ended, { timeoutMs: lateMs }).catch(() => {});
    cut.abort(error);
    await inTime(endUnknown, { timeoutMs: lateMs }).catch(() => {});
    throw error;
  }
};

/**
 * Has a service make a sandbox within a limit, and retries while it has no free capacity. If that fails or is aborted, no
 * sandbox is left behind, as far as the service answers.
 */
export const makeSandbox = <Sandbox>(making: Making<Sandbox>): Promise<Sandbox> =>
  untilAccepted((leftMs) => makeOnce(making, leftMs), {
    timeoutMs: making.limits.createTimeoutMs,
    signal: making.signal,
    transienceOf: making.transienceOf,
  });
