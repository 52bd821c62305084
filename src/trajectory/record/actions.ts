import type { AgentStreamEvent } from "../../agents/contract.ts";
import { shortenTo } from "../../display/columns.ts";
import { describeToolInput } from "../../display/toolInput.ts";
import { oneLine } from "../../tools/shorten.ts";

/** An action that has ended, or that the agent has started. */
export interface Action {
  readonly iteration: number;
  readonly tool: string;
  readonly input: string;
  readonly isError?: boolean;
  readonly isUnfinished?: boolean;
}

interface Call extends Action {
  readonly id: string | undefined;
}

const MAX_INPUT_WIDTH = 200;
const MAX_NAME_WIDTH = 80;
/** Limits the memory: no agent calls more tools at a time. */
const MAX_OPEN = 1000;

/** Cut before measuring the width, which takes long for a long text. */
const brief = (text: string, width: number): string => shortenTo(oneLine(text.slice(0, width * 10)), width);

const withoutId = ({ id: _, ...action }: Call): Action => action;

/**
 * Finds the actions in an agent's events: a tool call is an action once it has a result. Some agents do not say which
 * call a result belongs to, and some report no results: then the next turn ends all earlier calls.
 */
export class ActionReader {
  #open: Call[] = [];

  /** The actions that this event ends. */
  push(event: AgentStreamEvent): Action[] {
    if (event.type === "toolCall") {
      const { name, input, id, iteration } = event;
      const beforeIt = id === undefined ? this.#take((call) => call.id === undefined) : [];
      this.#open.push({
        iteration,
        tool: brief(name, MAX_NAME_WIDTH),
        input: brief(describeToolInput(input), MAX_INPUT_WIDTH),
        id,
      });
      return [...beforeIt, ...this.#take((_, index) => index < this.#open.length - MAX_OPEN)];
    }
    if (event.type === "toolResult") {
      const { id, isError = false } = event;
      return this.#take((call) => call.id === id).map((action) => ({
        ...action,
        ...(isError && { isError }),
      }));
    }
    return event.type === "turnStart" || event.type === "result" ? this.#take(() => true) : [];
  }

  /** The iteration has ended: calls without a result are unfinished. */
  end(): Action[] {
    return this.#take(() => true).map((action) => ({ ...action, isUnfinished: true }));
  }

  #take(isOver: (call: Call, index: number) => boolean): Action[] {
    const over = this.#open.filter(isOver);
    if (over.length > 0) this.#open = this.#open.filter((call) => !over.includes(call));
    return over.map(withoutId);
  }
}
