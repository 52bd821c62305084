/**
 * Finds the first completion signal in a stream of text pieces, also when it is split between them. Keeps no more of
 * the stream than the longest signal could still need.
 */
export class CompletionSignalMatcher {
  #carry = "";
  #matched: string | undefined;
  readonly #longest: number;

  constructor(private readonly signals: readonly string[]) {
    this.#longest = Math.max(0, ...signals.map((signal) => signal.length));
  }

  /** The signal that was found first, once there is one. */
  get matched(): string | undefined {
    return this.#matched;
  }

  push(text: string): void {
    if (this.#matched !== undefined) return;
    const window = this.#carry + text;
    let earliest = Number.POSITIVE_INFINITY;
    for (const signal of this.signals) {
      const position = window.indexOf(signal);
      if (position !== -1 && position < earliest) {
        earliest = position;
        this.#matched = signal;
      }
    }
    this.#carry = window.slice(Math.max(0, window.length - this.#longest + 1));
  }
}
