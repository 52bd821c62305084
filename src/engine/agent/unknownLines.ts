import type { AgentEvent } from "../../agents/contract.ts";

/** Fewer lines than this prove nothing. */
const MIN_LINES = 5;

/** Counts the lines of an agent's output that its provider does not recognise. */
export class UnknownLines {
  #lines = 0;
  #unknown = 0;
  #sample = "";

  /** `shorten` turns a line into the part of it that may be shown. */
  constructor(private readonly shorten: (line: string) => string) {}

  get count(): number {
    return this.#unknown;
  }

  push(line: string, stream: "stdout" | "stderr", events: readonly AgentEvent[]): void {
    // A line without events, such as a part of a message, proves nothing.
    if (stream !== "stdout" || line.trim() === "" || events.length === 0) return;
    this.#lines++;
    if (!events.some(({ type }) => type === "raw")) return;
    this.#unknown++;
    if (this.#sample === "") this.#sample = this.shorten(line);
  }

  /** A warning if most lines were not recognised. */
  warning(agent: string): string | undefined {
    if (this.#unknown < MIN_LINES || this.#unknown <= this.#lines / 2) return undefined;
    return `${this.#unknown} of ${this.#lines} output lines of the agent ${agent} were not recognised. sanddune may not support its version. The first one: ${this.#sample}`;
  }
}
