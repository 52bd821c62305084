import type { AgentStreamEvent } from "../agents/contract.ts";
import type { IterationUsage } from "../options/results.ts";
import { addUsage } from "../options/usage.ts";

/** Counts the events of a run. */
export class Tally {
  /** `startedAt` is when the run began, by the monotonic clock. */
  constructor(private readonly startedAt: number) {}

  iterations = 0;
  toolCalls = 0;
  failedToolCalls = 0;
  /** `undefined` if the agent does not report it. */
  usage: IterationUsage | undefined;

  get durationMs(): number {
    return performance.now() - this.startedAt;
  }

  count(event: AgentStreamEvent): void {
    if (event.type === "toolCall") this.toolCalls++;
    if (event.type === "toolResult" && event.isError) this.failedToolCalls++;
    if (event.type === "usage") this.usage = addUsage(this.usage, event.usage);
  }
}
