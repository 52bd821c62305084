const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Longer lines are delivered in pieces of this size, so that an endless line cannot exhaust the memory. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Cuts a byte stream into lines at `\n` and nothing else: agents print U+2028 raw, and a multi-byte
 * character may arrive in two chunks, so bytes are split first and decoded line by line.
 */
export class LineSplitter {
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly maxLineBytes: number = MAX_LINE_BYTES,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      if (this.#pendingBytes === 0 && end - start <= this.maxLineBytes) {
        // The common case needs no buffer for each line.
        const lineEnd = end > start && chunk[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
        this.onLine(chunk.toString("utf8", start, lineEnd));
      } else {
        this.#add(chunk.subarray(start, end));
        this.#emit();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  /** Delivers the bytes after the last newline. */
  end(): void {
    if (this.#pendingBytes > 0) this.#emit();
  }

  #add(piece: Buffer): void {
    let rest = piece;
    while (this.#pendingBytes + rest.length > this.maxLineBytes) {
      const fitting = rest.subarray(0, this.maxLineBytes - this.#pendingBytes);
      this.#append(fitting);
      this.#emit();
      rest = rest.subarray(fitting.length);
    }
    this.#append(rest);
  }

  #append(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pending.push(piece);
    this.#pendingBytes += piece.length;
  }

  #emit(): void {
    const bytes = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    this.onLine(bytes.toString("utf8", 0, end));
  }
}
