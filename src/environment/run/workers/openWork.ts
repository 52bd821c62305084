import { LinkedController } from "../../../tools/wait/linkedController.ts";

/** Work that its caller can abort, and that closing aborts. */
export class OpenWork {
  readonly #closed = new AbortController();
  readonly #atWork = new Set<Promise<unknown>>();

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  async perform<A>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<A>): Promise<A> {
    using either = new LinkedController(signal, this.#closed.signal);
    const working = either.signal.aborted ? Promise.reject(either.signal.reason) : work(either.signal);
    this.#atWork.add(working);
    try {
      return await working;
    } finally {
      this.#atWork.delete(working);
    }
  }

  /** Aborts the running work, and waits until it is over. Later work rejects at once. */
  async close(reason: unknown): Promise<void> {
    this.#closed.abort(reason);
    await Promise.allSettled([...this.#atWork]);
  }
}
