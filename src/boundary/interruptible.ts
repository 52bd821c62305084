import * as Effect from "effect/Effect";
import type { HostFileError } from "../errors.ts";
import { asHostFileError } from "./hostFileErrors.ts";

/**
 * Lifts a promise that can be aborted into Effect. Interruption aborts it AND waits until it has settled, so that
 * whatever it was doing (a process group being killed, say) is over when the fiber is. A failed file operation that
 * `toError` has no better error for is a `HostFileError`.
 */
export const interruptible = <A, E>(
  start: (signal: AbortSignal) => Promise<A>,
  toError: (reason: unknown) => E,
): Effect.Effect<A, E | HostFileError> =>
  Effect.callback<A, E | HostFileError>((resume) => {
    const controller = new AbortController();
    // Inside an async function, so that what is thrown at once is a rejection as well.
    const settled = (async () => start(controller.signal))().then(
      (value) => resume(Effect.succeed(value)),
      (reason: unknown) =>
        resume(
          Effect.suspend(() => {
            const error = toError(reason);
            return Effect.fail(asHostFileError(error) ?? error);
          }),
        ),
    );
    return Effect.promise(() => {
      controller.abort();
      return settled;
    });
  });
