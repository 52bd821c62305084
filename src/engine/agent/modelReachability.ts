import type { AgentEvent } from "../../agents/contract.ts";
import { showDuration } from "../../display/duration.ts";

/** Before the model's first answer the agent has done nothing yet, so a short wait is enough. */
const FIRST_ANSWER_MS = 30_000;
const MIN_ATTEMPTS = 3;

/**
 * Measures how long an agent has failed to reach its model. Only failed attempts count, not time without output: the
 * agent may have got through, and the model may be thinking.
 */
export class ModelReachability {
  #hasAnswered = false;
  #failedSince: number | undefined;
  #attempts = 0;

  /** `patienceMs` is how long the agent may retry after the model has answered at least once. */
  constructor(private readonly patienceMs: number) {}

  /** The reason to stop the agent, once there is one. */
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
      // An error of another kind is also an answer of the model.
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
