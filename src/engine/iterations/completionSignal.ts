/** Text is searched when so much has arrived: an agent may print millions of short lines. */
const SEARCH_LENGTH = 16 * 1024;

/** Finds the first completion signal, also across chunks. Keeps only as much text as that may need. */
export class CompletionSignalMatcher {
  #window = "";
  #matched: string | undefined;
  readonly #longest: number;

  constructor(private readonly signals: readonly string[]) {
    this.#longest = Math.max(0, ...signals.map((signal) => signal.length));
  }

  /** The first signal that was found. */
  get matched(): string | undefined {
    this.#search();
    return this.#matched;
  }

  push(text: string): void {
    if (this.#matched !== undefined) return;
    this.#window += text;
    if (this.#window.length >= SEARCH_LENGTH) this.#search();
  }

  #search(): void {
    if (this.#matched !== undefined) return;
    const window = this.#window;
    let earliest = Number.POSITIVE_INFINITY;
    for (const signal of this.signals) {
      const position = window.indexOf(signal);
      if (position !== -1 && position < earliest) {
        earliest = position;
        this.#matched = signal;
      }
    }
    this.#window = window.slice(Math.max(0, window.length - this.#longest + 1));
  }
}
