import { basename } from "node:path";
import type { TestResults } from "../../environment/contract.ts";
import type { RecordedStep } from "./steps.ts";

export interface Point {
  /** The step after which it is so. */
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

/** What there is to draw: the tests of the run itself, and those of each environment since. */
export const seriesOf = (steps: readonly RecordedStep[]): Series[] =>
  [
    seriesNamed("during the run", steps, ({ tests }) => tests),
    ...environmentsOf(steps).map((environment) =>
      seriesNamed(`evaluated with ${basename(environment)}`, steps, ({ evaluations }) =>
        evaluations.get(environment),
      ),
    ),
  ].filter(({ points }) => points.length > 0);

/** A column of a table: the results of one set of tests, which are not to be mixed with those of another. */
export interface TestColumn {
  readonly heading: string;
  readonly resultsOf: (step: RecordedStep) => TestResults | undefined;
}

/** As many as a table has room for: the last ones. */
const MAX_COLUMNS = 3;

/** The tests of the run itself, and those of each environment since, named by its folder. */
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
