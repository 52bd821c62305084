import { orAborted } from "../tools/wait/onAbort.ts";

/** Lets one call at a time work on a worktree, in the order in which they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();
  /** The turns of other worktrees that the call of this turn waits for. */
  readonly #awaited = new Map<symbol, Turns>();

  /** Resolves when it is the caller's turn, with what ends it. Rejects with the identical `signal.reason`. */
  async take(signal?: AbortSignal): Promise<() => void> {
    let end = () => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    const before = this.#last;
    this.#last = before.then(() => mine);
    try {
      await orAborted(before, signal);
      return end;
    } catch (reason) {
      end();
      throw reason;
    }
  }

  /**
   * Notes that the call of this turn waits for one on `other`. Gives what ends that; or `undefined` if they would wait
   * for each other for ever.
   */
  waitFor(other: Turns): (() => void) | undefined {
    if (other.#waitsFor(this)) return undefined;
    const wait = Symbol("wait");
    this.#awaited.set(wait, other);
    return () => {
      this.#awaited.delete(wait);
    };
  }

  #waitsFor(other: Turns): boolean {
    return this === other || [...this.#awaited.values()].some((awaited) => awaited.#waitsFor(other));
  }
}
