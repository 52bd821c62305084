import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { Batches } from "./batches.ts";

/** More than any model writes, even with every character escaped. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Messages over standard input and output, a line each. It closes when standard input ends or standard output breaks. The SDK's own
 * transport copies its whole buffer for each chunk, which takes seconds for some megabytes, and does not notice a client that has
 * left.
 */
export class StdioTransport implements Transport {
  declare onmessage?: (message: JSONRPCMessage) => void;
  declare onerror?: (error: Error) => void;
  declare onclose?: () => void;

  readonly #batches = new Batches((answers) => void this.#write(answers));
  readonly #lines = new LineSplitter((line) => this.#take(line), MAX_MESSAGE_BYTES);
  readonly #read = (chunk: Buffer) => this.#lines.push(chunk);
  readonly #end = () => void this.close();
  readonly #fail = (error: Error) => this.onerror?.(error);

  async start(): Promise<void> {
    process.stdin
      .on("data", this.#read)
      .on("error", this.#fail)
      .once("end", this.#end)
      .once("close", this.#end);
    // This listener stays: writing after the end fails, too.
    process.stdout.on("error", this.#end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#batches.takes(message)) await this.#write(message);
  }

  async close(): Promise<void> {
    process.stdin.off("data", this.#read).off("end", this.#end).off("close", this.#end).pause();
    const { onclose } = this;
    this.onclose = undefined;
    onclose?.();
  }

  #take(line: string): void {
    // Only the first piece has arrived, without its id: the sender would wait for an answer forever.
    if (Buffer.byteLength(line) >= MAX_MESSAGE_BYTES) {
      this.#fail(new Error(`A message has more than ${MAX_MESSAGE_BYTES} bytes: the connection is closed.`));
      this.#end();
      return;
    }
    try {
      const value: unknown = JSON.parse(line);
      if (Array.isArray(value)) this.#takeBatch(value);
      else this.#receive(JSONRPCMessageSchema.parse(value));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #takeBatch(values: readonly unknown[]): void {
    if (values.length === 0) throw new Error("A batch of messages is empty.");
    const parsed = values.map((value) => JSONRPCMessageSchema.safeParse(value));
    const messages = parsed.flatMap(({ data }) => (data === undefined ? [] : [data]));
    this.#batches.begin(messages);
    for (const { error } of parsed) if (error !== undefined) this.#fail(error);
    for (const message of messages) this.#receive(message);
  }

  #receive(message: JSONRPCMessage): void {
    this.onmessage?.(message);
    this.#batches.receive(message);
  }

  #write(messages: JSONRPCMessage | readonly JSONRPCMessage[]): Promise<void> {
    return new Promise((resolve) => process.stdout.write(`${JSON.stringify(messages)}\n`, () => resolve()));
  }
}
