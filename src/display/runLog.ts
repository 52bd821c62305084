import { closeSync, openSync, writeSync } from "node:fs";
import type { AgentStreamEvent } from "../agents/contract.ts";
import type { RunDisplay, RunEnding, SessionKind } from "./contract.ts";
import { neutralise } from "./neutralise.ts";
import { namePrefix } from "./notice.ts";
import { tellIfSlow } from "./slowStep.ts";
import { endingLines, endingTitle } from "./summary.ts";
import { showToolInput } from "./toolInput.ts";

const BUFFER_BYTES = 256 * 1024;
/** The most bytes of one UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Short texts are escaped and encoded together, once they are so long. */
const PENDING_LENGTH = 16 * 1024;

/** Indents all lines but the first, so that they cannot look like lines from sanddune. */
const indented = (text: string): string => text.replaceAll("\n", "\n  ");

const describe = (event: Exclude<AgentStreamEvent, { type: "text" | "turnStart" }>): string => {
  switch (event.type) {
    case "toolCall":
      return `[tool call] ${indented(event.name)} ${showToolInput(event.input)}`;
    case "toolResult":
      return `[tool ${event.isError ? "failed" : "result"}] ${indented(event.output)}`;
    case "sessionId":
      return `[session] ${indented(event.sessionId)}`;
    case "usage":
      return `[usage] ${JSON.stringify(event.usage)}`;
    case "error":
      return `[${event.willRetry ? "agent tries again" : "model error"}] ${indented(event.message)}`;
    case "result":
      return `[${event.isError ? "agent failed" : "agent finished"}] ${indented(event.message ?? "")}`;
    case "raw":
      return `[${event.stream}] ${event.line}`;
  }
};

export interface RunLogOptions {
  readonly kind: SessionKind;
  readonly path: string;
  /** The prefix of each line. */
  readonly name: string | undefined;
  readonly isVerbose: boolean;
}

/**
 * The run log of log-to-file mode. Writes synchronously, so that the order of events is kept, memory stays bounded,
 * and a slow disk slows the reader down instead of filling a queue. Stops writing after a failure, such as a full
 * disk.
 */
export class RunLog implements RunDisplay {
  readonly #kind: SessionKind;
  readonly #prefix: string;
  readonly #isVerbose: boolean;
  /** A fixed buffer: a string of that size, which grows with each line, would make the heap grow. */
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;
  /** Text that is not in the buffer yet. */
  #pending = "";
  #pendingIsAtLineStart = true;
  #descriptor: number | undefined;
  #flushScheduled = false;
  #failure: string | undefined;
  #isAtLineStart = true;

  constructor({ kind, path, name, isVerbose }: RunLogOptions) {
    this.#kind = kind;
    this.#prefix = namePrefix(name);
    this.#isVerbose = isVerbose;
    this.#descriptor = openSync(path, "wx", 0o600);
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  note(sentence: string): void {
    this.#writeLine(`[sanddune ${new Date().toISOString()}] ${indented(sentence)}`);
  }

  warn(sentence: string): void {
    this.note(`Warning: ${sentence}`);
  }

  iteration(iteration: number, maxIterations: number): void {
    this.note(`Iteration ${iteration} of at most ${maxIterations}.`);
  }

  event(event: AgentStreamEvent): void {
    if (event.type === "text") this.#write(event.text);
    else if (event.type !== "turnStart") this.#writeLine(describe(event));
  }

  rawLine(line: string, stream: "stdout" | "stderr"): void {
    if (this.#isVerbose) this.#writeLine(`[${stream}] ${line}`);
  }

  hookLine(hook: string, line: string): void {
    this.#writeLine(`[${hook}] ${line}`);
  }

  step(label: string): () => void {
    const tell = (sentence: string) => this.note(sentence);
    return tellIfSlow(label, tell, tell);
  }

  close(ending: RunEnding): void {
    const title = endingTitle(this.#kind, ending.state);
    this.note(ending.problem === undefined ? title : `${title} ${ending.problem}`);
    for (const line of endingLines(this.#kind, ending, { wholeNames: true })) this.#writeLine(line);
    this.#flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #writeLine(line: string): void {
    this.#write(`${this.#isAtLineStart ? "" : "\n"}${line}\n`);
  }

  #write(text: string): void {
    if (text === "") return;
    this.#pending += text;
    this.#isAtLineStart = text.endsWith("\n");
    if (this.#pending.length >= PENDING_LENGTH) this.#encodePending();
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #encodePending(): void {
    const shown = this.#prefixed(neutralise(this.#pending));
    this.#pending = "";
    this.#pendingIsAtLineStart = this.#isAtLineStart;
    const maxBytes = shown.length * MAX_BYTES_PER_CHARACTER;
    if (this.#used + maxBytes > this.#buffer.length) this.#writeBuffer();
    if (maxBytes > this.#buffer.length) this.#put(Buffer.from(shown));
    else this.#used += this.#buffer.write(shown, this.#used);
  }

  /** Puts the prefix before each line that begins in `text`. */
  #prefixed(text: string): string {
    if (this.#prefix === "" || text === "") return text;
    const begun = text.replace(/\n(?=[\s\S])/g, `\n${this.#prefix}`);
    return this.#pendingIsAtLineStart ? this.#prefix + begun : begun;
  }

  #flush(): void {
    this.#encodePending();
    this.#writeBuffer();
  }

  #writeBuffer(): void {
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
