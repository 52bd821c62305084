import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { failOrDie } from "./failures.ts";
import { asHostFileError } from "./hostFileErrors.ts";

/**
 * Lifts a promise that can be aborted into Effect. Interruption aborts it AND waits until it has settled: a process group
 * that it kills is gone when the fiber ends. `toFailure` is for code that may reject with anything.
 */
export const interruptible = <A, E = SandduneError>(
  start: (signal: AbortSignal) => Promise<A>,
  toFailure?: (reason: unknown) => E,
): Effect.Effect<A, E | SandduneError> =>
  Effect.callback<A, E | SandduneError>((resume) => {
    const controller = new AbortController();
    // Inside an async function, so that a synchronous throw is a rejection as well.
    const settled = (async () => start(controller.signal))().then(
      (value) => resume(Effect.succeed(value)),
      (reason: unknown) =>
        resume(
          Effect.suspend((): Effect.Effect<never, E | SandduneError> => {
            if (toFailure === undefined) return failOrDie(reason);
            const failure = toFailure(reason);
            return Effect.fail(asHostFileError(failure) ?? failure);
          }),
        ),
    );
    return Effect.promise(() => {
      controller.abort();
      return settled;
    });
  });
