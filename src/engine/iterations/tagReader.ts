/** Of the text in a tag. */
export const MAX_TAG_LENGTH = 4 * 1024 * 1024;

/** What a tag holds; or that it is too long to be read. */
export type TagContent = { readonly content: string } | { readonly isTooLong: true };

/**
 * Finds the last `<tag>…</tag>` in a stream of text pieces. Of several opening tags in a row the last one counts: agents
 * like to announce what they are going to write. Keeps no more of the stream than that text.
 */
export class TagReader {
  readonly #close: string;
  readonly #tags: RegExp;
  /** The text since the opening tag, but for the carry; `undefined` outside of the tag. */
  #inside: string[] | undefined;
  #insideLength = 0;
  /** The end of the stream so far, in which a tag may have begun. */
  #carry = "";
  #found: TagContent | undefined;

  constructor(tag: string) {
    this.#close = `</${tag}>`;
    this.#tags = new RegExp(`</?${tag.replaceAll(".", "\\.")}>`, "g");
  }

  /** What the last complete tag holds; `undefined` if there is none. */
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

  /** The text is over: what comes next does not close a tag that was left open. */
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
