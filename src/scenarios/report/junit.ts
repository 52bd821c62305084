import type { RunRecord, StepRecord } from "../record.ts";
import { Markup, markup } from "./markup.ts";
import type { ReportModel, RunnerHistory, ScenarioName } from "./model.ts";
import { briefly, endOf, failuresOf, printed, runnerName, showEnd } from "./words.ts";

/** Says that a file was made here, so that it may be made anew. */
export const JUNIT_MARK = "<!-- sanddune scenario report -->";

const TAIL_LENGTH = 4000;

/** An execution of the newest go: what a CI run is about. */
interface TestCase extends ScenarioName {
  readonly record: RunRecord;
}

interface TestSuite {
  readonly name: string;
  readonly cases: readonly TestCase[];
}

const seconds = (durationMs: number): string => (durationMs / 1000).toFixed(3);

const outputOf = (step: StepRecord): string =>
  [
    `# ${briefly(step.name)}: ${showEnd(step)}`,
    printed(step.stdout_tail, TAIL_LENGTH),
    printed(step.stderr_tail, TAIL_LENGTH),
  ]
    .filter((text) => text !== undefined)
    .join("\n");

const properties = ({ title, record }: TestCase): Markup => {
  const known: readonly (readonly [string, string | null | undefined])[] = [
    ["title", title],
    ["started_at", record.started_at],
    ["manifest_version", record.manifest_version],
    ["provider", record.runner.provider],
    ["model", record.runner.model],
    ["sandbox", record.runner.sandbox],
    ["ci_run", record.ci_run?.url],
  ];
  const told = known.flatMap(([name, value]) =>
    value == null ? [] : [markup`<property name="${name}" value="${briefly(value)}"/>`],
  );
  return markup`<properties>${told}</properties>`;
};

const outcome = (record: RunRecord): Markup | undefined => {
  const { result, notes } = record;
  if (result === "passing") return undefined;
  if (result === "manual") return markup`<skipped message="${briefly(notes ?? "needs a person")}"/>`;
  const failures = failuresOf(record);
  return markup`<failure message="${briefly(failures[0] ?? notes ?? "failing")}">${endOf((failures.length > 0 ? failures : [notes ?? ""]).join("\n"), TAIL_LENGTH)}</failure>`;
};

const testCase = (suite: string, item: TestCase): Markup => {
  const { repeat, duration_ms, steps } = item.record;
  const name = repeat === undefined ? item.id : `${item.id} (${repeat.number} of ${repeat.of})`;
  return markup`    <testcase name="${name}" classname="${suite}" time="${seconds(duration_ms)}">${properties(item)}${outcome(item.record)}<system-out>${steps.map(outputOf).join("\n\n")}</system-out></testcase>
`;
};

const countsOf = (cases: readonly TestCase[]): Markup => {
  const having = (wanted: RunRecord["result"]): number =>
    cases.filter(({ record }) => record.result === wanted).length;
  const durationMs = cases.reduce((sum, { record }) => sum + record.duration_ms, 0);
  return markup`tests="${cases.length}" failures="${having("failing")}" errors="0" skipped="${having("manual")}" time="${seconds(durationMs)}"`;
};

const testSuite = ({ name, cases }: TestSuite): Markup =>
  markup`  <testsuite name="${name}" ${countsOf(cases)}>
${cases.map((item) => testCase(name, item))}  </testsuite>
`;

/** One test suite for each runner; what was never executed is none of theirs. */
const suitesOf = ({ scenarios }: ReportModel): TestSuite[] => {
  const suites = new Map<string, TestCase[]>();
  const add = ({ id, title }: ScenarioName, runner: RunnerHistory): void => {
    const name = `scenarios.${runnerName(runner)}`;
    const cases = runner.latest.map((record) => ({ id, title, record })).toReversed();
    suites.set(name, [...(suites.get(name) ?? []), ...cases]);
  };
  for (const scenario of scenarios) for (const runner of scenario.runners) add(scenario, runner);
  return [...suites].map(([name, cases]) => ({ name, cases }));
};

/** The newest results as JUnit XML, which every CI system can show. */
export const junitReport = (model: ReportModel): string => {
  const suites = suitesOf(model);
  return markup`<?xml version="1.0" encoding="UTF-8"?>
${new Markup(JUNIT_MARK)}
<testsuites name="scenarios" ${countsOf(suites.flatMap(({ cases }) => cases))}>
${suites.map(testSuite)}</testsuites>
`.text;
};
