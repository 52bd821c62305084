import type { AgentStreamEvent } from "../../agents/contract.ts";
import type { IterationUsage } from "../../options/results.ts";
import { addUsage } from "../../options/usage.ts";
import { BoundedCapture } from "../../tools/boundedCapture.ts";
import type { StepRecord } from "../records/record.ts";

type ToolEdit = NonNullable<StepRecord["tool_edits"]>[number];

const TEXT_BYTES = 64 * 1024;
const MAX_TOOL_CALLS = 500;
const MAX_NAME_LENGTH = 100;

/** Collects the parts of an agent's output that a record contains. */
export class AgentWork {
  readonly #text = new BoundedCapture(TEXT_BYTES);
  #usage: IterationUsage | undefined;
  #hasCalledTool = false;
  readonly #edits: ToolEdit[] = [];
  /** The tool calls that have not ended, with their ids if they have any. */
  readonly #open: { readonly id: string | undefined; readonly name: string }[] = [];

  push(event: AgentStreamEvent): void {
    switch (event.type) {
      case "text":
        this.#text.pushText(event.text);
        break;
      case "usage":
        this.#usage = addUsage(this.#usage, event.usage);
        break;
      case "toolCall":
        this.#hasCalledTool = true;
        // Calls that never end must not fill the memory.
        if (this.#open.length < MAX_TOOL_CALLS)
          this.#open.push({ id: event.id, name: event.name.slice(0, MAX_NAME_LENGTH) });
        break;
      case "toolResult":
        this.#close(event.id, event.isError === true);
        break;
    }
  }

  #close(id: string | undefined, isError: boolean): void {
    const index = this.#open.findIndex((call) => call.id === id);
    const [call] = index === -1 ? [] : this.#open.splice(index, 1);
    if (call === undefined || this.#edits.length >= MAX_TOOL_CALLS) return;
    this.#edits.push({ name: call.name, status: isError ? "error" : "completed" });
  }

  /** The end of the agent's text. */
  get text(): string {
    return this.#text.text();
  }

  /** Whether the agent has started a tool call, whatever its result. */
  get hasCalledTool(): boolean {
    return this.#hasCalledTool;
  }

  get record(): Required<Pick<StepRecord, "tool_edits">> & Pick<StepRecord, "usage"> {
    return { tool_edits: this.#edits, ...(this.#usage && { usage: this.#usage }) };
  }
}
