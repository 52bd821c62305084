import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";

/**
 * A step of tidying up, which must not hide how the run itself has ended: whatever goes wrong in it, expected or not,
 * is told and otherwise let be.
 */
export const tidying = <R>(
  step: Effect.Effect<void, unknown, R>,
  tell: (sentence: string) => void,
): Effect.Effect<void, never, R> =>
  Effect.catchCause(step, (cause) =>
    Effect.sync(() => {
      const reason = Cause.squash(cause);
      tell(reason instanceof Error ? reason.message : String(reason));
    }),
  );
