import { basename } from "node:path";
import type { TestResults } from "../../environment/contract.ts";
import type { RecordedStep } from "./steps.ts";

export interface Point {
  /** The step after which the tests ran. */
  readonly number: number;
  readonly passed: number;
  readonly total: number;
}

/** How many tests pass over the steps of a run. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

const seriesNamed = (
  name: string,
  steps: readonly RecordedStep[],
  resultsOf: (step: RecordedStep) => TestResults | undefined,
): Series => ({
  name,
  points: steps.flatMap((step) => {
    const results = resultsOf(step);
    return results === undefined
      ? []
      : [{ number: step.number, passed: results.passed, total: results.total }];
  }),
});

/** The environments that the commits of a run were evaluated with, by the order of the steps. */
export const environmentsOf = (steps: readonly RecordedStep[]): string[] => [
  ...new Set(steps.flatMap(({ evaluations }) => [...evaluations.keys()])),
];

/** The series of the chart: the run's own tests, and those of each evaluated environment. */
export const seriesOf = (steps: readonly RecordedStep[]): Series[] =>
  [
    seriesNamed("during the run", steps, ({ tests }) => tests),
    ...environmentsOf(steps).map((environment) =>
      seriesNamed(`evaluated with ${basename(environment)}`, steps, ({ evaluations }) =>
        evaluations.get(environment),
      ),
    ),
  ].filter(({ points }) => points.length > 0);

/** A column of a table with the results of one set of tests. */
export interface TestColumn {
  readonly heading: string;
  readonly resultsOf: (step: RecordedStep) => TestResults | undefined;
}

/** How many columns fit into a table. The last ones are shown. */
const MAX_COLUMNS = 3;

/** The columns of the run's own tests, and of each evaluated environment, named by its folder. */
export const testColumns = (steps: readonly RecordedStep[]): TestColumn[] => {
  const environments = environmentsOf(steps);
  const nameOf = (environment: string): string => {
    const name = basename(environment);
    return environments.filter((other) => basename(other) === name).length > 1 ? environment : name;
  };
  const own = steps.some(({ tests }) => tests !== undefined)
    ? [{ heading: "TESTS", resultsOf: ({ tests }: RecordedStep) => tests }]
    : [];
  const later = environments.map((environment) => ({
    heading: nameOf(environment),
    resultsOf: ({ evaluations }: RecordedStep) => evaluations.get(environment),
  }));
  return [...own, ...later.slice(-MAX_COLUMNS)];
};
