/** The standard input of a git process: lines that are written one after the other, until it is ended. */
export class ConversationInput {
  #unsent: string[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  write(lines: string): void {
    this.#unsent.push(lines);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<Uint8Array> {
    while (!this.#isOver) {
      const lines = this.#unsent.splice(0).join("");
      if (lines !== "") yield Buffer.from(lines);
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
