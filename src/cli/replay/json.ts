import { expenseOfIteration, expenseOfRun, expenseOfStep } from "../../trajectory/read/expense.ts";
import type { Replay } from "../../trajectory/read/replay.ts";
import type { RecordedStep } from "../../trajectory/read/steps.ts";

const shortStep = ({ run }: Replay, { events: _, evaluations, ...step }: RecordedStep) => ({
  ...step,
  ...expenseOfStep(run, { ...step, events: [], evaluations }),
  evaluations: Object.fromEntries(evaluations),
});

/** The JSON output of a recorded run. */
export const replaySummary = (replay: Replay): object => {
  const { run, steps } = replay;
  const { runId, agent, agentVersion, model, base, state, begunAt, endedAt, iterations, artifacts } = run;
  return {
    ...{ runId, agent, agentVersion, model, base, state, begunAt, endedAt, artifacts },
    ...expenseOfRun(run),
    iterations: iterations.map((iteration) => ({ ...iteration, ...expenseOfIteration(run, iteration) })),
    steps: steps.map((step) => shortStep(replay, step)),
  };
};

/** The JSON output of one step. */
export const stepSummary = (replay: Replay, step: RecordedStep, patch: string): object => ({
  ...shortStep(replay, step),
  events: step.events,
  patch,
});
