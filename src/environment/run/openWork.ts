import { setMaxListeners } from "node:events";

/** Work that goes on until its caller does not want it any more, or until everything is closed. */
export class OpenWork {
  readonly #closed = new AbortController();
  readonly #atWork = new Set<Promise<unknown>>();

  constructor() {
    // One for everything that is at work.
    setMaxListeners(0, this.#closed.signal);
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  async perform<A>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<A>): Promise<A> {
    const either = new AbortController();
    setMaxListeners(0, either.signal);
    const both = [signal, this.#closed.signal].filter((each) => each !== undefined);
    const follow = () => either.abort(both.find(({ aborted }) => aborted)?.reason);
    for (const each of both) each.addEventListener("abort", follow, { once: true });
    if (both.some(({ aborted }) => aborted)) follow();
    const working = either.signal.aborted ? Promise.reject(either.signal.reason) : work(either.signal);
    this.#atWork.add(working);
    try {
      return await working;
    } finally {
      this.#atWork.delete(working);
      for (const each of both) each.removeEventListener("abort", follow);
    }
  }

  /** Aborts what is at work, and waits until it is over. What comes later rejects at once. */
  async close(reason: unknown): Promise<void> {
    this.#closed.abort(reason);
    await Promise.allSettled([...this.#atWork]);
  }
}
