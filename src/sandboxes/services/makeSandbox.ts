import { inTime } from "../../tools/wait/timeLimit.ts";
import type { ServiceLimits } from "./serviceLimits.ts";
import { type Persistence, untilAccepted } from "./untilAccepted.ts";

/** How long a caller that has given up waits for a sandbox that is about to come, and for its end. */
const LATE_MS = 5000;

/** How a service is asked for a sandbox. */
export interface Making<Sandbox> {
  /** Asks for the sandbox. The signal cuts the request off. */
  ask(signal: AbortSignal): Promise<Sandbox>;
  /** Ends a sandbox that has come too late. */
  end(sandbox: Sandbox): Promise<void>;
  /** Ends what was made although that was not answered. */
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
    // A request that is cut off at once may leave a sandbox whose id is unknown.
    const lateMs = Math.min(LATE_MS, limits.requestTimeoutMs);
    const ended = request.then(end);
    await inTime(() => ended, { timeoutMs: lateMs }).catch(() => {});
    cut.abort(error);
    await inTime(endUnknown, { timeoutMs: lateMs }).catch(() => {});
    throw error;
  }
};

/**
 * Has a service make a sandbox, within a limit, and asks again if there is no room for the moment. If that fails or is aborted,
 * no sandbox is left behind, as far as the service answers.
 */
export const makeSandbox = <Sandbox>(making: Making<Sandbox>): Promise<Sandbox> =>
  untilAccepted((leftMs) => makeOnce(making, leftMs), {
    timeoutMs: making.limits.createTimeoutMs,
    signal: making.signal,
    transienceOf: making.transienceOf,
  });
