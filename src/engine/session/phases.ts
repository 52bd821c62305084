import * as Effect from "effect/Effect";
import type { Session } from "./session.ts";

export interface Phase {
  /** For the journal. */
  readonly phase: string;
  /** For people; left out where there is nothing to see. */
  readonly label?: string;
}

/** A phase that people are shown only if there is something to do in it. */
export const labelled = (phase: string, hasWork: boolean, label: string): Phase =>
  hasWork ? { phase, label } : { phase };

/** Runs a step of the session, shows it while it lasts, and writes down how long it took. */
export const timed = <A, E, R>(
  { journal, display }: Session,
  { phase, label }: Phase,
  step: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const startedAt = performance.now();
    const endDisplay = label === undefined ? undefined : display.step(label);
    return Effect.onExit(step, () =>
      Effect.sync(() => {
        endDisplay?.();
        journal.tell({ type: "phase", phase, durationMs: Math.round(performance.now() - startedAt) });
      }),
    );
  });
