import type { Replay } from "../trajectory/replay.ts";
import type { Step } from "../trajectory/steps.ts";

const shortStep = ({ events: _, evaluations, ...step }: Step) => ({
  ...step,
  evaluations: Object.fromEntries(evaluations),
});

/** What programs are told about a recorded run. */
export const replaySummary = ({ run, steps }: Replay): object => {
  const { runId, agent, base, state, begunAt, endedAt, iterations, artifacts } = run;
  return {
    ...{ runId, agent, base, begunAt, iterations, artifacts },
    ...(state !== undefined && { state }),
    ...(endedAt !== undefined && { endedAt }),
    steps: steps.map(shortStep),
  };
};

/** What programs are told about one step. */
export const stepSummary = (step: Step, patch: string): object => ({
  ...shortStep(step),
  events: step.events,
  patch,
});
