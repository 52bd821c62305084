import type { JsonObject } from "../../tools/json/parseJson.ts";
import type { AgentEvent } from "../contract.ts";
import { textAt } from "./jsonLine.ts";

/** The id of a tool call, as the events of the call have it. */
export const callId = (object: JsonObject, key: string): { readonly id?: string } => {
  const id = textAt(object, key);
  return id === undefined ? {} : { id };
};

/** The event for the id of a session, if a line has one. */
export const sessionEvents = (sessionId: string | undefined): AgentEvent[] =>
  sessionId === undefined ? [] : [{ type: "sessionId", sessionId }];

/** Reports the id of a session that many lines repeat, once. */
export class SessionId {
  #last: string | undefined;

  eventsFor(sessionId: string | undefined): AgentEvent[] {
    if (sessionId === undefined || sessionId === "" || sessionId === this.#last) return [];
    this.#last = sessionId;
    return sessionEvents(sessionId);
  }
}

/** Text that comes in pieces, with nothing that marks its end: the next event of another kind does. */
export class StreamedText {
  #isOpen = false;

  piece(text: string): AgentEvent[] {
    if (text === "") return [];
    this.#isOpen = true;
    return [{ type: "text", text }];
  }

  end(): AgentEvent[] {
    const end: AgentEvent[] = this.#isOpen ? [{ type: "text", text: "\n" }] : [];
    this.#isOpen = false;
    return end;
  }
}
