/** The limit for lines that are not read: a process in the sandbox may be stopped while others send requests. */
const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024;

/** A queue of JSON lines for one reader. */
export class PendingLines implements AsyncIterable<Uint8Array> {
  readonly #waiting: string[] = [];
  #characters = 0;
  #isOver = false;
  #wake = (): void => {};

  push(line: object): void {
    if (this.#characters > MAX_WAITING_CHARACTERS) return;
    const text = `${JSON.stringify(line)}\n`;
    this.#waiting.push(text);
    this.#characters += text.length;
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const line = this.#waiting.shift();
      if (line !== undefined) {
        this.#characters -= line.length;
        yield Buffer.from(line);
      } else if (this.#isOver) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
