import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { CODE_FILE, KEPT_PIECES, type OutputStream, recordFile, TAKEN_STEP } from "./script.ts";

const RECORD = /^(\d{1,9}) (\d{1,6}) ([A-Za-z0-9+/=.]+)$/;
const INBOX = /^@ (\/\S+)$/;
const END = /^= (\d{1,3})$/;
const END_OF_STREAM = ".";

/** The relay's longest line. */
const MAX_LINE = 1024 * 1024;
const NOISE_BYTES = 4096;
/** Records that are held until the earlier ones have arrived. Records further ahead are in the inbox, or the earlier ones are lost. */
const MAX_AHEAD = 2 * KEPT_PIECES;

/** Reads the text of one connection, in pieces of any size. */
export interface RelayReader {
  stdout(text: string): void;
  stderr(text: string): void;
}

/** One of the two streams: its records in order, each once. */
class RecordStream {
  #next = 0;
  #isOver = false;
  #furthest = -1;
  readonly #early = new Map<number, string>();

  constructor(
    private readonly onChunk: (chunk: Buffer) => void,
    private readonly onTaken: (count: number) => void,
  ) {}

  get next(): number {
    return this.#next;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A later record has arrived, and an earlier one is missing. */
  get hasGap(): boolean {
    return this.#furthest >= this.#next;
  }

  take(index: number, data: string): void {
    if (this.#isOver || index < this.#next || this.#early.has(index)) return;
    this.#furthest = Math.max(this.#furthest, index);
    // A hostile command could write records ahead without end.
    if (index - this.#next > MAX_AHEAD) return;
    this.#early.set(index, data);
    for (;;) {
      const due = this.#early.get(this.#next);
      if (due === undefined) return;
      this.#early.delete(this.#next);
      this.#next++;
      if (due === END_OF_STREAM) this.#isOver = true;
      else this.onChunk(Buffer.from(due, "base64"));
      if (this.#next % TAKEN_STEP === 0) this.onTaken(this.#next);
    }
  }
}

/** Reads a file of the inbox; `undefined` if there is none. */
export type ReadInbox = (name: string) => Promise<string | undefined>;

/** The relay's output over any number of connections: nothing twice, nothing left out without an error. */
export class RelayOutput {
  readonly #streams: { readonly out: RecordStream; readonly err: RecordStream };
  readonly #noise = new BoundedCapture(NOISE_BYTES);
  #exitCode: number | undefined;
  #received = 0;
  #catchingUp: Promise<void> | undefined;
  #isAskedAgain = false;
  #findInbox: (path: string) => void = () => {};
  #end: (exitCode: number) => void = () => {};
  #complete: () => void = () => {};

  /** Where the relay's files are. */
  readonly inbox = new Promise<string>((resolve) => {
    this.#findInbox = resolve;
  });
  /** The exit code, once the command is over. A background process may still hold its streams. */
  readonly ended = new Promise<number>((resolve) => {
    this.#end = resolve;
  });
  /** All output has arrived. */
  readonly completed = new Promise<void>((resolve) => {
    this.#complete = resolve;
  });

  constructor(
    callbacks: {
      readonly onStdoutChunk: (chunk: Buffer) => void;
      readonly onStderrChunk: (chunk: Buffer) => void;
    },
    private readonly relay: {
      /** Records are missing, and have to be read from the inbox. */
      readonly onGap: () => void;
      /** The relay waits for this report. */
      readonly onTaken: (stream: OutputStream, count: number) => void;
    },
  ) {
    this.#streams = {
      out: new RecordStream(callbacks.onStdoutChunk, (count) => relay.onTaken("out", count)),
      err: new RecordStream(callbacks.onStderrChunk, (count) => relay.onTaken("err", count)),
    };
  }

  /** Counts what has arrived; it only grows. */
  get received(): number {
    return this.#received;
  }

  /** The numbers of the next records. */
  get due(): Readonly<Record<OutputStream, number>> {
    return { out: this.#streams.out.next, err: this.#streams.err.next };
  }

  /** Output that is not the relay's: usually errors of a shell. */
  get noise(): string {
    return this.#noise.text().trim();
  }

  /** For a new connection, which begins with a whole line. */
  openReader(): RelayReader {
    const lines = (stream: OutputStream) => {
      let held: string[] = [];
      let length = 0;
      const hold = (text: string) => {
        length += text.length;
        if (length <= MAX_LINE) held.push(text);
        else held = [];
      };
      return (text: string) => {
        let start = 0;
        for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
          hold(text.slice(start, end));
          this.#takeLine(stream, held.join(""));
          held = [];
          length = 0;
          start = end + 1;
        }
        if (start < text.length) hold(text.slice(start));
      };
    };
    return { stdout: lines("out"), stderr: lines("err") };
  }

  /** Reads missing records from the inbox. Rejects if some are gone: the output is incomplete. */
  catchUp(read: ReadInbox): Promise<void> {
    // A pending read may have looked before the missing record was written.
    this.#isAskedAgain = true;
    this.#catchingUp ??= this.#takeAllKept(read).finally(() => {
      this.#catchingUp = undefined;
    });
    return this.#catchingUp;
  }

  async #takeAllKept(read: ReadInbox): Promise<void> {
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false;
      await this.#takeKept(read);
    }
  }

  async #takeKept(read: ReadInbox): Promise<void> {
    for (const name of ["out", "err"] as const) {
      const stream = this.#streams[name];
      while (!stream.isOver) {
        const { next, hasGap } = stream;
        const kept = await read(recordFile(name, next));
        if (kept !== undefined) this.#takeLine(name, kept.trimEnd());
        if (stream.next > next) continue;
        if (hasGap) throw new Error("the connection broke, and some of the command's output was lost");
        break;
      }
    }
    const code = await read(CODE_FILE);
    if (code?.endsWith("\n")) this.#takeLine("out", `= ${code.trimEnd()}`);
  }

  #takeLine(name: OutputStream, line: string): void {
    const [, index, length, data] = RECORD.exec(line) ?? [];
    const [, inbox] = INBOX.exec(line) ?? [];
    const [, code] = END.exec(line) ?? [];
    if (data !== undefined && data.length === Number(length)) this.#takeRecord(name, Number(index), data);
    else if (inbox !== undefined) this.#findInbox(inbox);
    else if (code !== undefined) this.#takeEnd(Number(code));
    else if (line !== "") this.#noise.push(Buffer.from(`${line.slice(0, NOISE_BYTES)}\n`));
  }

  #takeRecord(name: OutputStream, index: number, data: string): void {
    const stream = this.#streams[name];
    const { next } = stream;
    stream.take(index, data);
    if (stream.next > next) this.#received++;
    // Once is enough until the inbox is read: the command can make gaps as fast as it prints.
    if (stream.hasGap && !this.#isAskedAgain) this.relay.onGap();
    this.#settle();
  }

  #takeEnd(exitCode: number): void {
    if (this.#exitCode !== undefined) return;
    this.#received++;
    this.#exitCode = exitCode;
    this.#end(exitCode);
    this.#settle();
  }

  #settle(): void {
    const { out, err } = this.#streams;
    if (this.#exitCode !== undefined && out.isOver && err.isOver) this.#complete();
  }
}
