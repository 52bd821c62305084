/** The limit for the text in a tag. */
export const MAX_TAG_LENGTH = 4 * 1024 * 1024;

export type TagContent = { readonly content: string } | { readonly isTooLong: true };

/**
 * Finds the last `<tag>…</tag>` in a stream of text chunks. Of several opening tags in a row the last one counts,
 * because agents often announce what they will write. Keeps only that text of the stream.
 */
export class TagReader {
  readonly #close: string;
  readonly #tags: RegExp;
  /** The text since the opening tag, without the carry; `undefined` outside a tag. */
  #inside: string[] | undefined;
  #insideLength = 0;
  /** The end of the stream so far, which may be the beginning of a tag. */
  #carry = "";
  #found: TagContent | undefined;

  constructor(tag: string) {
    this.#close = `</${tag}>`;
    this.#tags = new RegExp(`</?${tag.replaceAll(".", "\\.")}>`, "g");
  }

  /** The content of the last complete tag; `undefined` if there is none. */
  get found(): TagContent | undefined {
    return this.#found;
  }

  push(text: string): void {
    const window = this.#carry + text;
    let begin = 0;
    for (const { index, 0: tag } of window.matchAll(this.#tags)) {
      if (tag === this.#close && this.#inside === undefined) continue;
      if (tag === this.#close) {
        this.#keep(window.slice(begin, index));
        this.#found = this.#insideLength > MAX_TAG_LENGTH ? { isTooLong: true } : { content: this.#text() };
        this.#inside = undefined;
      } else {
        this.#inside = [];
        this.#insideLength = 0;
      }
      begin = index + tag.length;
    }
    const settled = Math.max(begin, window.length - this.#close.length + 1);
    this.#carry = window.slice(settled);
    this.#keep(window.slice(begin, settled));
  }

  /** Call it at the end of a text, so that the next text does not close an open tag. */
  endText(): void {
    this.#inside = undefined;
    this.#carry = "";
  }

  #text(): string {
    return (this.#inside ?? []).join("");
  }

  #keep(text: string): void {
    if (this.#inside === undefined) return;
    this.#insideLength += text.length;
    if (this.#insideLength > MAX_TAG_LENGTH) this.#inside = [];
    else this.#inside.push(text);
  }
}
