import * as Effect from "effect/Effect";
import type { RunContext } from "./runContext.ts";

/** Runs a step of the session and writes down how long it took. */
export const timed = <A, E, R>(
  { journal }: RunContext,
  phase: string,
  step: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const startedAt = performance.now();
    return Effect.onExit(step, () =>
      Effect.sync(() =>
        journal.tell({ type: "phase", phase, durationMs: Math.round(performance.now() - startedAt) }),
      ),
    );
  });
