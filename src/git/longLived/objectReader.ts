import { ConversationInput } from "./conversationInput.ts";
import { type Conversation, NoAnswer } from "./longLivedGit.ts";

/** An object of the repository. */
export interface ReadObject {
  readonly sha: string;
  readonly type: string;
  readonly size: number;
  /** Empty for `info()`. */
  readonly contents: Buffer;
}

interface Request {
  readonly withContents: boolean;
  readonly answer: (object: ReadObject | undefined) => void;
  readonly fail: (reason: NoAnswer) => void;
}

const LINE_FEED = 10;

/** Reads any number of objects through one `git cat-file --batch-command`. */
export class ObjectReader implements Conversation {
  #requests: Request[] = [];
  #input = new ConversationInput();
  #chunks: Buffer[] = [];
  #length = 0;
  /** The number of bytes that the next answer needs at least. */
  #needed = 1;

  /** An object by its name, which is one line; `undefined` if it is missing. */
  contents(name: string): Promise<ReadObject | undefined> {
    return this.#ask("contents", name);
  }

  /** Name, type and size of an object. */
  info(name: string): Promise<ReadObject | undefined> {
    return this.#ask("info", name);
  }

  #ask(command: "contents" | "info", name: string): Promise<ReadObject | undefined> {
    if (this.#input.isOver) return Promise.reject(new NoAnswer());
    return new Promise((answer, fail) => {
      this.#requests.push({ withContents: command === "contents", answer, fail });
      this.#input.write(`${command} ${name}\n`);
    });
  }

  input(): AsyncGenerator<Uint8Array> {
    return this.#input.read();
  }

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
    const [, sha, type, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(bytes.toString("latin1", 0, end)) ?? [];
    const isThere = sha !== undefined && type !== undefined && size !== undefined;
    const length = isThere && request.withContents ? Number(size) : 0;
    const used = end + 1 + (isThere && request.withContents ? length + 1 : 0);
    if (bytes.length < used) {
      this.#needed = used;
      return 0;
    }
    this.#requests.shift();
    const contents = bytes.subarray(end + 1, end + 1 + length);
    request.answer(isThere ? { sha, type, size: Number(size), contents } : undefined);
    return used;
  }

  end(): void {
    this.#input.end();
    for (const { fail } of this.#requests.splice(0)) fail(new NoAnswer());
  }
}
