/** Keeps the last `maxBytes` of a stream and says whether there was more. */
export class BoundedCapture {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #truncated = false;

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): void {
    if (this.maxBytes === 0) {
      this.#truncated ||= chunk.length > 0;
      return;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // Dropping whole chunks, and only once twice the limit is held, keeps the cost linear in the stream's length.
    if (this.#bytes > 2 * this.maxBytes) this.#dropOldest();
  }

  get truncated(): boolean {
    return this.#truncated || this.#bytes > this.maxBytes;
  }

  text(): string {
    const all = Buffer.concat(this.#chunks);
    if (all.length <= this.maxBytes) return all.toString("utf8");
    let start = all.length - this.maxBytes;
    // Do not begin in the middle of a multi-byte character.
    while (start < all.length && ((all[start] as number) & 0xc0) === 0x80) start++;
    return all.toString("utf8", start);
  }

  #dropOldest(): void {
    this.#truncated = true;
    const kept = Buffer.concat(this.#chunks).subarray(this.#bytes - this.maxBytes);
    this.#chunks = [Buffer.from(kept)];
    this.#bytes = kept.length;
  }
}
