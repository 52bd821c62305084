import * as Effect from "effect/Effect";
import type { Session } from "./session.ts";

export interface Phase {
  /** The name in the journal. */
  readonly phase: string;
  /** The text in the display. Without it the phase is not shown. */
  readonly label?: string;
}

/** A phase that is shown only if there is something to do. */
export const labelled = (phase: string, hasWork: boolean, label: string): Phase =>
  hasWork ? { phase, label } : { phase };

/** Runs a phase of the session, shows it while it runs, and writes its duration to the journal. */
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
