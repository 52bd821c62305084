import { onAbort } from "./onAbort.ts";

/**
 * An `AbortController` that other signals abort, too, until it is disposed of. Use it for work that several parties can stop,
 * when one of their signals outlives the work: `AbortSignal.any()` cannot be undone.
 */
export class LinkedController extends AbortController implements Disposable {
  readonly #unlink: readonly (() => void)[];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    super();
    this.#unlink = signals.map((signal) => onAbort(signal, (reason) => this.abort(reason)));
  }

  [Symbol.dispose](): void {
    for (const unlink of this.#unlink) unlink();
  }
}
