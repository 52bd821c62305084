import type { AgentStreamEvent } from "../agents/contract.ts";
import { redactData } from "./redactData.ts";
import type { Redactor } from "./redactor.ts";

const redactId = (redactor: Redactor, { id }: { readonly id?: string }) =>
  id === undefined ? {} : { id: redactor.text(id) };

/** Redacts the agent's part of an event, but not its type and origin, which are ours. */
const redactEvent = (redactor: Redactor, event: AgentStreamEvent): AgentStreamEvent => {
  switch (event.type) {
    case "text":
      return { ...event, text: redactor.text(event.text) };
    case "toolCall":
      return {
        ...event,
        name: redactor.text(event.name),
        input: redactData(redactor, event.input),
        ...redactId(redactor, event),
      };
    case "toolResult":
      return { ...event, output: redactor.text(event.output), ...redactId(redactor, event) };
    case "sessionId":
      return { ...event, sessionId: redactor.text(event.sessionId) };
    case "error":
      return { ...event, message: redactor.text(event.message) };
    case "result":
      return event.message === undefined ? event : { ...event, message: redactor.text(event.message) };
    case "raw":
      return { ...event, line: redactor.text(event.line) };
    case "usage":
    case "turnStart":
      return event;
  }
};

/** Events that end a piece of text. Other events may come in the middle of it. */
const ENDS_TEXT: ReadonlySet<AgentStreamEvent["type"]> = new Set([
  "toolCall",
  "toolResult",
  "error",
  "result",
]);

/** Holds text back while it may be the beginning of a secret that is split across chunks. */
export class EventRedactor {
  #held: Extract<AgentStreamEvent, { type: "text" }> | undefined;

  constructor(
    private readonly redactor: Redactor,
    private readonly emit: (event: AgentStreamEvent) => void,
  ) {}

  push(event: AgentStreamEvent): void {
    if (!this.redactor.isNeeded) {
      this.emit(event);
      return;
    }
    if (event.type !== "text") {
      if (ENDS_TEXT.has(event.type)) this.flush();
      this.emit(redactEvent(this.redactor, event));
      return;
    }
    const { redacted, open } = this.redactor.splitOpen((this.#held?.text ?? "") + event.text);
    this.#held = open === "" ? undefined : { ...event, text: open };
    if (redacted !== "") this.emit(redacted === event.text ? event : { ...event, text: redacted });
  }

  /** Ends the stream: the held text is not a complete secret, but may contain a shorter one. */
  flush(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.emit({ ...held, text: this.redactor.text(held.text) });
  }
}
