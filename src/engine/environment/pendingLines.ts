/** Lines of JSON that are still to come, for somebody who reads them one after the other. */
export class PendingLines implements AsyncIterable<Uint8Array> {
  readonly #waiting: string[] = [];
  #isOver = false;
  #wake = (): void => {};

  push(line: object): void {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const line = this.#waiting.shift();
      if (line !== undefined) yield Buffer.from(line);
      else if (this.#isOver) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
