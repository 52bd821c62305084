/** Whoever does not read what it has asked for gets no more of it: a process in a sandbox can be stopped, and others ask for it. */
const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024;

/** Lines of JSON that are still to come, for somebody who reads them one after the other. */
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
