import * as Effect from "effect/Effect";
import { warnOnFailure } from "./warnOnFailure.ts";

export interface FinalStep<A, E, R> {
  /** Its failure is only a warning, so that it does not hide the failure of the work. */
  readonly onFailure: () => Effect.Effect<void, unknown, R>;
  readonly onSuccess: (value: A) => Effect.Effect<void, E, R>;
  readonly warn: (sentence: string) => void;
}

/** Runs a final step however the work ends. An interruption cannot come in between. */
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
