import type { AgentRateLimitError } from "../../errors.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";

/** Where the agent does not tell when the limit ends: how long the first wait is, and each doubles the one before. */
const FIRST_WAIT_MS = 60_000;
/**
 * A limit that ends in this very moment may still hold on the model's clock. If it comes again, what was told is not to
 * be relied on, and an agent that is started over and over costs money.
 */
const SHORTEST_WAIT_MS = 1000;

/** Waits for rate limits to end, as long as the caller allows in all. */
export class RateLimitWaits {
  #left: number;
  /** Of each kind, how often it was waited: to a time that was told, and without one. */
  readonly #waits = { told: 0, untold: 0 };

  constructor(onRateLimit: AgentSettings["onRateLimit"]) {
    this.#left = onRateLimit === "fail" ? 0 : onRateLimit.waitUpToMs;
  }

  /** How long to wait now; `undefined` if it would be too long. */
  nextWaitMs({ retryAt }: AgentRateLimitError, now: number): number | undefined {
    const kind = retryAt === undefined ? "untold" : "told";
    const factor = 2 ** this.#waits[kind];
    const wait =
      retryAt === undefined
        ? Math.min(FIRST_WAIT_MS * factor, this.#left)
        : Math.max(retryAt.getTime() - now, Math.min(SHORTEST_WAIT_MS * factor, FIRST_WAIT_MS));
    // Not the other way round: what is no number is no time to wait.
    if (!(wait <= this.#left) || this.#left <= 0) return undefined;
    this.#waits[kind]++;
    this.#left -= wait;
    return wait;
  }
}
