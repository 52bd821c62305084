/** A longer line is shown in parts. */
const MAX_LENGTH = 16 * 1024;

/** Splits a stream of text into lines. */
export class TextLines {
  #partial = "";

  constructor(private readonly onLine: (line: string) => void) {}

  push(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.onLine(line);
    if (this.#partial.length > MAX_LENGTH) this.end();
  }

  /** Ends the current line. */
  end(): void {
    const line = this.#partial;
    this.#partial = "";
    if (line !== "") this.onLine(line);
  }
}
