import * as Effect from "effect/Effect";
import { warnOnFailure } from "./warnOnFailure.ts";

export interface FinalStep<A, E, R> {
  /** What goes wrong in it does not hide how the work itself has ended. */
  readonly onFailure: () => Effect.Effect<void, unknown, R>;
  readonly onSuccess: (value: A) => Effect.Effect<void, E, R>;
  readonly warn: (sentence: string) => void;
}

/** Work that is followed by something, however it ends: nothing can come in between. */
export const withFinalStep = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  { onFailure, onSuccess, warn }: FinalStep<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    restore(work).pipe(
      Effect.onError(() => warnOnFailure(Effect.suspend(onFailure), warn)),
      Effect.tap(onSuccess),
    ),
  );
