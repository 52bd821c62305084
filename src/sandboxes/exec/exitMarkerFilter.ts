const RECORD_SEPARATOR = 0x1e;
const EXIT_CODE = /^\d{1,3}$/;

/**
 * Takes the exit marker (see `execWrapper.ts`) out of a byte stream and reports its exit code.
 *
 * - Output before the marker is passed on unchanged; it is held back only while it may be the beginning of a marker.
 * - Output after the marker comes from processes that outlived the command, and is dropped.
 */
export class ExitMarkerFilter {
  readonly #opening: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #exitCode: number | undefined;

  constructor(
    markerId: string,
    private readonly onData: (data: Buffer) => void,
  ) {
    this.#opening = Buffer.from(`\x1e${markerId}:`);
  }

  /** Set as soon as the marker has arrived: the stream is complete then. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  push(chunk: Buffer): void {
    if (this.#exitCode !== undefined) return;
    let data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    for (;;) {
      const start = data.indexOf(this.#opening);
      if (start === -1) {
        this.#holdFrom(data, this.#partialOpening(data));
        return;
      }
      const codeStart = start + this.#opening.length;
      const end = data.indexOf(RECORD_SEPARATOR, codeStart);
      const code = data.toString("latin1", codeStart, end === -1 ? data.length : end);
      if (end === -1 && (code === "" || EXIT_CODE.test(code))) {
        this.#holdFrom(data, start);
        return;
      }
      if (end !== -1 && EXIT_CODE.test(code)) {
        this.#emit(data.subarray(0, start));
        this.#exitCode = Number(code);
        return;
      }
      this.#emit(data.subarray(0, codeStart));
      data = data.subarray(codeStart);
    }
  }

  /** The stream is over: held output was not the beginning of a marker. */
  end(): void {
    this.#emit(this.#held);
    this.#held = Buffer.alloc(0);
  }

  /** The offset of a suffix that may be the beginning of a marker. */
  #partialOpening(data: Buffer): number {
    const earliest = Math.max(0, data.length - this.#opening.length + 1);
    for (
      let at = data.indexOf(RECORD_SEPARATOR, earliest);
      at !== -1;
      at = data.indexOf(RECORD_SEPARATOR, at + 1)
    ) {
      if (this.#opening.subarray(0, data.length - at).equals(data.subarray(at))) return at;
    }
    return data.length;
  }

  #holdFrom(data: Buffer, start: number): void {
    this.#emit(data.subarray(0, start));
    this.#held = data.subarray(start);
  }

  #emit(data: Buffer): void {
    if (data.length > 0) this.onData(data);
  }
}
