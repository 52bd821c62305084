import type { ExecInput } from "../sandboxes/contract.ts";
import { CallerFailure } from "./boundary.ts";
import { askingCaller } from "./turns.ts";

/** Calls the caller's callbacks and remembers what they threw, even if the code in between replaces the error. */
export class CallersCode {
  failure: CallerFailure | undefined;

  call(body: () => void): void {
    try {
      body();
    } catch (reason) {
      throw this.#remember(reason);
    }
  }

  input(input: ExecInput): ExecInput {
    return typeof input === "string" || input instanceof Uint8Array ? input : this.#chunks(input);
  }

  async *#chunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const source = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await askingCaller(() => source.next());
        if (next.done) return;
        yield next.value;
      }
    } catch (reason) {
      throw this.#remember(reason);
    } finally {
      await source.return?.().catch(() => {});
    }
  }

  #remember(reason: unknown): unknown {
    this.failure ??= new CallerFailure(reason);
    return reason;
  }
}
