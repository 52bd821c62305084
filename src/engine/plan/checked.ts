import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";

/** Runs a check that throws. */
export const checked = <A>(check: () => A): Effect.Effect<A, SandduneError> =>
  Effect.try({ try: check, catch: (error) => error as SandduneError });
