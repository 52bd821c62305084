import type { AgentRateLimitError } from "../../errors.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";

/** The first wait if the agent does not report when the limit ends. Each further wait is twice as long. */
const FIRST_WAIT_MS = 60_000;
/**
 * The shortest wait, because the model's clock may differ. It doubles if the limit is still reached: the reported
 * time is wrong then, and each start of the agent costs money.
 */
const SHORTEST_WAIT_MS = 1000;

/** Decides how long to wait for rate limits, within the limit for the whole run. */
export class RateLimitWaits {
  #left: number;
  /** The number of waits with and without a reported end. */
  readonly #waits = { told: 0, untold: 0 };

  constructor(onRateLimit: AgentSettings["onRateLimit"]) {
    this.#left = onRateLimit === "fail" ? 0 : onRateLimit.waitUpToMs;
  }

  /** How long to wait now; `undefined` if that is too long. */
  nextWaitMs({ retryAt }: AgentRateLimitError, now: number): number | undefined {
    const kind = retryAt === undefined ? "untold" : "told";
    const factor = 2 ** this.#waits[kind];
    const wait =
      retryAt === undefined
        ? Math.min(FIRST_WAIT_MS * factor, this.#left)
        : Math.max(retryAt.getTime() - now, Math.min(SHORTEST_WAIT_MS * factor, FIRST_WAIT_MS));
    // Not `wait > this.#left`: `NaN` must not pass.
    if (!(wait <= this.#left) || this.#left <= 0) return undefined;
    this.#waits[kind]++;
    this.#left -= wait;
    return wait;
  }
}
