import { closeSync, openSync, writeSync } from "node:fs";
import type { AgentStreamEvent } from "../agents/contract.ts";
import { neutralise } from "./neutralise.ts";

const BUFFER_BYTES = 256 * 1024;
/** In UTF-8, of what a string counts as one. */
const MAX_BYTES_PER_CHARACTER = 3;

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
  /** Written to in place: a string that grows by every line would keep the young heap growing with it. */
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;
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
    const shown = neutralise(text);
    const maxBytes = shown.length * MAX_BYTES_PER_CHARACTER;
    if (this.#used + maxBytes > this.#buffer.length) this.#flush();
    if (maxBytes > this.#buffer.length) this.#put(Buffer.from(shown));
    else this.#used += this.#buffer.write(shown, this.#used);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    this.#put(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #put(bytes: Buffer): void {
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
