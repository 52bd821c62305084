import { TaskAbortedError } from "../errors.ts";

/** The signal of one run, for as long as the run needs it. */
export interface RunSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Passes the abort of a fleet, or of one of its tasks, on to the runs. Each run is aborted with an error of its own, because
 * that error tells what the run had reached.
 */
export class FleetAbort implements Disposable {
  /** What each run that goes on does when the fleet is aborted. */
  readonly #running = new Set<() => void>();
  readonly #abortAll = () => {
    for (const abort of this.#running) abort();
  };

  constructor(private readonly signal: AbortSignal | undefined) {
    signal?.addEventListener("abort", this.#abortAll, { once: true });
  }

  /** For a run, whose task may have a signal of its own. */
  signalFor(own: AbortSignal | undefined): RunSignal {
    const controller = new AbortController();
    const abortFor = (cause: AbortSignal | undefined) => () =>
      controller.abort(new TaskAbortedError({ cause: cause?.reason }));
    const byFleet = abortFor(this.signal);
    const byTask = abortFor(own);
    this.#running.add(byFleet);
    own?.addEventListener("abort", byTask, { once: true });
    if (this.signal?.aborted) byFleet();
    if (own?.aborted) byTask();
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        this.#running.delete(byFleet);
        own?.removeEventListener("abort", byTask);
      },
    };
  }

  [Symbol.dispose](): void {
    this.signal?.removeEventListener("abort", this.#abortAll);
  }
}
