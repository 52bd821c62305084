import { closeSync, openSync, writeSync } from "node:fs";
import type { AgentStreamEvent } from "../agents/contract.ts";
import { neutralise } from "./neutralise.ts";

const BUFFER_CHARACTERS = 64 * 1024;

const describe = (event: AgentStreamEvent): string | undefined => {
  switch (event.type) {
    case "text":
      return event.text;
    case "toolCall":
      return `\n[tool call] ${event.name} ${JSON.stringify(event.input)}\n`;
    case "toolResult":
      return `[tool result] ${event.output}\n`;
    case "sessionId":
      return `[session] ${event.sessionId}\n`;
    case "usage":
      return `[usage] ${JSON.stringify(event.usage)}\n`;
    case "result":
      return `[${event.isError ? "agent failed" : "agent finished"}] ${event.message ?? ""}\n`;
    case "raw":
      return `[${event.stream}] ${event.line}\n`;
  }
};

/**
 * The run log. Writing is synchronous, so the order is that of the events, memory stays bounded whatever the agent
 * prints, and a slow disk slows the reader down instead of filling a queue. A log that cannot be written any more (the
 * disk is full) falls silent; it never ends a run.
 */
export class RunLog {
  #buffer = "";
  #descriptor: number | undefined;
  #flushScheduled = false;
  #failure: string | undefined;

  constructor(readonly path: string) {
    this.#descriptor = openSync(path, "wx", 0o600);
  }

  /** Why the log is incomplete, if it is. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** A line of sanddune's own. */
  note(sentence: string): void {
    this.#write(`[sanddune ${new Date().toISOString()}] ${sentence}\n`);
  }

  event(event: AgentStreamEvent): void {
    const text = describe(event);
    if (text !== undefined) this.#write(text);
  }

  close(): void {
    this.#flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(text: string): void {
    this.#buffer += neutralise(text);
    if (this.#buffer.length >= BUFFER_CHARACTERS) this.#flush();
    else if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(() => {
        this.#flushScheduled = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = "";
    if (this.#descriptor === undefined || this.#failure !== undefined) return;
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(this.#descriptor, bytes, written);
      }
    } catch (error) {
      this.#failure = String(error);
    }
  }
}
