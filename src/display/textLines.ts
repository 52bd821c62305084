/** A line that gets longer than this is shown in pieces. */
const MAX_LENGTH = 16 * 1024;

/** Makes lines of a text that comes in pieces. */
export class TextLines {
  #partial = "";

  constructor(private readonly onLine: (line: string) => void) {}

  push(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.onLine(line);
    if (this.#partial.length > MAX_LENGTH) this.end();
  }

  /** What comes next does not belong to the line that was begun. */
  end(): void {
    const line = this.#partial;
    this.#partial = "";
    if (line !== "") this.onLine(line);
  }
}
