const INITIAL_BYTES = 16 * 1024;
/** The most bytes of UTF-8 for one unit of `string.length`. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Short texts are encoded together, once they are so long. */
const PENDING_LENGTH = 16 * 1024;

/** Keeps the last `maxBytes` of a stream and tells whether it was longer. */
export class BoundedCapture {
  /** A copy: references to the stream's chunks would keep the garbage collector from freeing them early. */
  #held = Buffer.alloc(0);
  #bytes = 0;
  #truncated = false;
  /** Text that is not encoded yet. */
  #pending = "";

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): void {
    this.#encodePending();
    this.#pushBytes(chunk);
  }

  #pushBytes(chunk: Buffer): void {
    const kept = chunk.length > this.maxBytes ? chunk.subarray(chunk.length - this.maxBytes) : chunk;
    if (kept.length < chunk.length) this.#truncated = true;
    if (kept.length === 0) return;
    this.#makeRoom(kept.length);
    this.#bytes += kept.copy(this.#held, this.#bytes);
  }

  /** For many small pieces: none of them becomes a buffer of its own. */
  pushText(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= PENDING_LENGTH) this.#encodePending();
  }

  #encodePending(): void {
    const text = this.#pending;
    if (text === "") return;
    this.#pending = "";
    if (text.length * MAX_BYTES_PER_CHARACTER > this.maxBytes) {
      this.#pushBytes(Buffer.from(text));
      return;
    }
    this.#makeRoom(text.length * MAX_BYTES_PER_CHARACTER);
    this.#bytes += this.#held.write(text, this.#bytes);
  }

  get truncated(): boolean {
    this.#encodePending();
    return this.#truncated || this.#bytes > this.maxBytes;
  }

  text(encoding: BufferEncoding = "utf8"): string {
    if (!this.truncated) return this.#held.toString(encoding, 0, this.#bytes);
    let start = Math.max(0, this.#bytes - this.maxBytes);
    // Do not begin in the middle of a multi-byte character.
    while (start < this.#bytes && ((this.#held[start] as number) & 0xc0) === 0x80) start++;
    return this.#held.toString(encoding, start, this.#bytes);
  }

  /** Old bytes go only once twice the limit is held, which keeps the cost linear in the stream's length. */
  #makeRoom(bytes: number): void {
    if (this.#bytes + bytes <= this.#held.length) return;
    if (this.#bytes + bytes > 2 * this.maxBytes) {
      const start = Math.max(0, this.#bytes - this.maxBytes);
      this.#held.copyWithin(0, start, this.#bytes);
      this.#bytes -= start;
      this.#truncated ||= start > 0;
      if (this.#bytes + bytes <= this.#held.length) return;
    }
    const wanted = Math.max(this.#bytes + bytes, 2 * this.#held.length, INITIAL_BYTES);
    const larger = Buffer.allocUnsafe(Math.min(wanted, 2 * this.maxBytes));
    this.#held.copy(larger, 0, 0, this.#bytes);
    this.#held = larger;
  }
}
