import type { AgentStreamEvent } from "../../agents/contract.ts";
import { shortenTo } from "../../display/columns.ts";
import { describeToolInput } from "../../display/toolInput.ts";
import { oneLine } from "../../tools/shorten.ts";

/** Something that the agent has done, or has begun to do. */
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
/** No agent calls so many tools at a time; one that says so gets no memory for it. */
const MAX_OPEN = 1000;

/** Cut before its width is measured, which takes long for what an agent prints without end. */
const brief = (text: string, width: number): string => shortenTo(oneLine(text.slice(0, width * 10)), width);

const withoutId = ({ id: _, ...action }: Call): Action => action;

/**
 * Finds the actions in what an agent says: a tool call is one when its result is there. Not all agents tell which result belongs
 * to which call, and some tell no results: then the next turn is the end of all calls before it.
 */
export class ActionReader {
  #open: Call[] = [];

  /** The actions that are over with this event. */
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

  /** Nothing more comes in this iteration: what is still open was cut off. */
  end(): Action[] {
    return this.#take(() => true).map((action) => ({ ...action, isUnfinished: true }));
  }

  #take(isOver: (call: Call, index: number) => boolean): Action[] {
    const over = this.#open.filter(isOver);
    if (over.length > 0) this.#open = this.#open.filter((call) => !over.includes(call));
    return over.map(withoutId);
  }
}
