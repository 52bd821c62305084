import * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import type { SandduneError } from "../../../errors.ts";
import { git } from "../../git.ts";

/** An object of the repository. */
export interface ReadObject {
  readonly type: string;
  readonly size: number;
  /** Empty for `info()`. */
  readonly contents: Buffer;
}

interface Request {
  readonly withContents: boolean;
  readonly answer: (object: ReadObject | undefined) => void;
}

const LINE_FEED = 10;

/** Reads any number of objects through one git process. */
export class ObjectReader {
  #requests: Request[] = [];
  #unsent: string[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;
  #chunks: Buffer[] = [];
  #length = 0;
  /** The number of bytes that the next answer needs at least. */
  #needed = 1;

  /** An object by its name; `undefined` if it is missing. */
  contents(name: string): Promise<ReadObject | undefined> {
    return this.#ask("contents", name);
  }

  /** Type and size of an object. */
  info(name: string): Promise<ReadObject | undefined> {
    return this.#ask("info", name);
  }

  #ask(command: "contents" | "info", name: string): Promise<ReadObject | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((answer) => {
      this.#requests.push({ withContents: command === "contents", answer });
      this.#unsent.push(`${command} ${name}\n`);
      this.#wake?.();
    });
  }

  /** The standard input of git. */
  async *input(): AsyncGenerator<Uint8Array> {
    while (!this.#isOver) {
      const lines = this.#unsent.splice(0).join("");
      if (lines !== "") yield Buffer.from(lines);
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  /** Receives the output of git. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    let bytes = Buffer.concat(this.#chunks);
    for (let used = this.#take(bytes); used > 0; used = this.#take(bytes)) bytes = bytes.subarray(used);
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#length = bytes.length;
  }

  /** Takes one answer from the start of the bytes, and returns its length. */
  #take(bytes: Buffer): number {
    const [request] = this.#requests;
    const end = bytes.indexOf(LINE_FEED);
    this.#needed = bytes.length + 1;
    if (request === undefined || end === -1) return 0;
    const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(bytes.toString("latin1", 0, end)) ?? [];
    const isThere = type !== undefined && size !== undefined;
    const length = isThere && request.withContents ? Number(size) : 0;
    const used = end + 1 + (isThere && request.withContents ? length + 1 : 0);
    if (bytes.length < used) {
      this.#needed = used;
      return 0;
    }
    this.#requests.shift();
    const contents = bytes.subarray(end + 1, end + 1 + length);
    request.answer(isThere ? { type, size: Number(size), contents } : undefined);
    return used;
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
    for (const { answer } of this.#requests.splice(0)) answer(undefined);
  }
}

/** Calls `read` with a reader for the objects of a repository. */
export const readingObjects = <A>(
  cwd: string,
  read: (reader: ObjectReader) => Promise<A>,
): Effect.Effect<A, SandduneError> =>
  Effect.suspend(() => {
    const reader = new ObjectReader();
    const answering = git(["cat-file", "--batch-command"], {
      cwd,
      stdin: reader.input(),
      onStdoutChunk: (chunk) => reader.push(chunk),
    }).pipe(Effect.ensuring(Effect.sync(() => reader.end())));
    const asking = interruptible(() => read(reader)).pipe(Effect.ensuring(Effect.sync(() => reader.end())));
    return Effect.map(Effect.all([asking, answering], { concurrency: "unbounded" }), ([answer]) => answer);
  });
