import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { messageOf } from "../../tools/messageOf.ts";

/** Runs a clean-up step. Its failure becomes a warning, because it must not hide how the run itself ended. */
export const warnOnFailure = <R>(
  step: Effect.Effect<void, unknown, R>,
  warn: (sentence: string) => void,
): Effect.Effect<void, never, R> =>
  Effect.catchCause(step, (cause) =>
    Effect.sync(() => {
      const reason = Cause.squash(cause);
      warn(messageOf(reason));
    }),
  );
