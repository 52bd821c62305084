import { PassThrough } from "node:stream";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { runLaunch } from "../exec/runLaunch.ts";
import type { Launch } from "../exec/sandboxAccess.ts";
import { PIPES, RECEIVED, UNFIT } from "./attachScript.ts";
import type { RelayReader } from "./output.ts";
import { UnfitSandboxError } from "./relay.ts";

/** A file to write in the sandbox. */
export interface SentFile {
  readonly path: string;
  readonly data: Uint8Array;
}

/** How long an abandoned connection may take to end by itself. */
const GRACE_MS = 5000;

/** The longest first line, which names the directory of the pipes. */
const MAX_HELLO = 4096;

/** The limit for output before a reader listens. */
const MAX_EARLY = 16 * 1024 * 1024;

/** One connection to a relay: a process on the host that runs a script of `attachScript.ts` in the sandbox. */
export class Connection {
  readonly #stdin = new PassThrough();
  readonly #client = new AbortController();
  readonly #sent = new Map<string, () => void>();
  #reader: RelayReader | undefined;
  readonly #early: ["stdout" | "stderr", string][] = [];
  #earlyLength = 0;
  #hello: string | undefined = "";
  #greet: (pipes: string) => void = () => {};
  #refuse: (error: Error) => void = () => {};
  #isOpen = true;

  /** The directory of the relay's pipes. Stays pending if the connection ends before; rejects if the sandbox is unfit. */
  readonly pipes = new Promise<string>((resolve, reject) => {
    this.#greet = resolve;
    this.#refuse = reject;
  });
  /** Resolves when the connection is over, with the reason if it is known. */
  readonly ended: Promise<string | undefined>;

  constructor(launch: Launch, script: Uint8Array) {
    this.pipes.catch(() => {});
    this.#stdin.write(script);
    const received = new LineSplitter((line) => {
      const [, path] = RECEIVED.exec(line) ?? [];
      if (path !== undefined) this.#sent.get(path)?.();
    });
    this.ended = runLaunch(launch, {
      stdin: this.#stdin,
      signal: this.#client.signal,
      onStdoutChunk: (chunk) => this.#takeStdout(chunk.toString("latin1")),
      onStderrChunk: (chunk) => {
        received.push(chunk);
        this.#pass("stderr", chunk.toString("latin1"));
      },
    })
      .then(
        ({ exitCode, problem }) => problem ?? `its client ended with ${exitCode}`,
        (reason: unknown) => String(reason),
      )
      .finally(() => {
        this.#isOpen = false;
        this.#stdin.destroy();
      });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  listen(reader: RelayReader): void {
    this.#reader = reader;
    for (const [stream, text] of this.#early.splice(0)) reader[stream](text);
  }

  /** Resolves when the file is in the sandbox. */
  async send({ path, data }: SentFile): Promise<void> {
    const arrived = new Promise<true>((resolve) => this.#sent.set(path, () => resolve(true)));
    this.#stdin.write(`${data.length} ${path}\n`);
    if (data.length > 0) this.#stdin.write(data);
    const isThere = await Promise.race([arrived, this.ended]);
    this.#sent.delete(path);
    if (isThere !== true) throw new Error(`the connection broke (${isThere})`);
  }

  /** Abandons the connection. It ends with its relay, or after a grace period. */
  leave(): void {
    this.#stdin.end();
    const timer = setTimeout(() => this.end(), GRACE_MS).unref();
    void this.ended.then(() => clearTimeout(timer));
  }

  end(): void {
    this.#client.abort(new Error("it was ended"));
  }

  #takeStdout(text: string): void {
    if (this.#hello === undefined) {
      this.#pass("stdout", text);
      return;
    }
    this.#hello += text;
    if (this.#hello.startsWith(UNFIT)) {
      this.#refuse(new UnfitSandboxError("it lacks programs that a relay needs, or room for its files"));
    }
    const [line, pipes] = PIPES.exec(this.#hello) ?? [];
    if (line === undefined || pipes === undefined) {
      // Output that does not come from the script.
      if (this.#hello.length > MAX_HELLO) this.end();
      return;
    }
    const rest = this.#hello.slice(line.length);
    this.#hello = undefined;
    this.#greet(pipes);
    if (rest !== "") this.#pass("stdout", rest);
  }

  #pass(stream: "stdout" | "stderr", text: string): void {
    if (this.#reader !== undefined) {
      this.#reader[stream](text);
      return;
    }
    this.#earlyLength += text.length;
    if (this.#earlyLength > MAX_EARLY) this.end();
    else this.#early.push([stream, text]);
  }
}
