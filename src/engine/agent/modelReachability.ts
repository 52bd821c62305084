import type { AgentEvent } from "../../agents/contract.ts";
import { showDuration } from "../../display/duration.ts";

/** An agent that its model has not answered once has done nothing yet: little is gained by waiting. */
const FIRST_ANSWER_MS = 30_000;
const MIN_ATTEMPTS = 3;

/**
 * Knows how long an agent has tried in vain to reach its model. Only an attempt that has failed counts, and no time that
 * merely passes: an agent that prints nothing may well have got through, and its model may be thinking.
 */
export class ModelReachability {
  #hasAnswered = false;
  #failedSince: number | undefined;
  #attempts = 0;

  /** `patienceMs` is how long an agent may try again that its model has answered before. */
  constructor(private readonly patienceMs: number) {}

  /** Why the agent is not to try any more, once that is so. */
  push(event: AgentEvent, now: number): string | undefined {
    switch (event.type) {
      case "text":
      case "toolCall":
        this.#hasAnswered = true;
        this.#startOver();
        return undefined;
      case "turnStart":
        this.#startOver();
        return undefined;
      case "error":
        return this.#trouble(event, now);
      default:
        return undefined;
    }
  }

  #startOver(): void {
    this.#failedSince = undefined;
    this.#attempts = 0;
  }

  #trouble(event: Extract<AgentEvent, { type: "error" }>, now: number): string | undefined {
    if (event.kind !== "unreachable") {
      // An answer, if not the one that was hoped for.
      this.#hasAnswered = true;
      this.#startOver();
      return undefined;
    }
    this.#failedSince ??= now;
    this.#attempts++;
    const triedMs = now - this.#failedSince;
    const patienceMs = this.#hasAnswered ? this.patienceMs : Math.min(FIRST_ANSWER_MS, this.patienceMs);
    if (!event.willRetry || this.#attempts < MIN_ATTEMPTS || triedMs < patienceMs) return undefined;
    return `${event.message} (${this.#attempts} attempts in ${showDuration(triedMs)})`;
  }
}
