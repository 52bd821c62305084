import type { RecordedIteration, RecordedRun } from "./readTrajectory.ts";
import type { RecordedStep } from "./steps.ts";

/** The steps of one iteration. The state before the first action belongs to none. */
export interface IterationSteps {
  readonly iteration: RecordedIteration | undefined;
  readonly steps: readonly RecordedStep[];
}

/** Groups steps by iteration, in order, including iterations without steps. */
export const byIteration = (
  { iterations }: RecordedRun,
  steps: readonly RecordedStep[],
): IterationSteps[] => {
  const groups = new Map<number, RecordedStep[]>(
    [0, ...iterations.map(({ number }) => number)].map((number) => [number, []]),
  );
  for (const step of steps) {
    const group = groups.get(step.iteration) ?? [];
    groups.set(step.iteration, group);
    group.push(step);
  }
  const named = new Map(iterations.map((iteration) => [iteration.number, iteration]));
  return [...groups]
    .sort(([one], [other]) => one - other)
    .map(([number, group]) => ({ iteration: named.get(number), steps: group }));
};
