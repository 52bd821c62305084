import { Markup, markup } from "../../markup/markup.ts";
import { printed } from "../../markup/words.ts";
import { briefly, endOf } from "../../tools/shorten.ts";
import type { RunnerProblem } from "../contract.ts";
import type { ScenarioRecord, StepRecord } from "../records/record.ts";
import type { ReportModel, RunnerHistory, ScenarioName } from "./model.ts";
import { showUsage, usageOf } from "./usage.ts";
import { failuresOf, runnerName, showEnd } from "./words.ts";

/** Marks a file as a report of sanddune, which may be replaced. */
export const JUNIT_MARK = "<!-- sanddune scenario report -->";

const TAIL_LENGTH = 4000;

/** The test suite of the runner's own errors. */
const RUNNER_SUITE = "scenarios.runner";

/** An execution of the newest suite run, or an error of the runner. */
interface TestCase {
  readonly name: string;
  readonly durationMs: number;
  readonly result: ScenarioRecord["result"] | "error";
  /** `skipped`, `failure` or `error`, then `system-out`: Jenkins' schema allows these elements in this order. */
  readonly content: Markup;
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

/** As text: in Jenkins' schema, test cases have no properties. */
const factsOf = ({ title, notes }: ScenarioName, record: ScenarioRecord): string => {
  const usage = usageOf(record);
  const known: readonly (readonly [string, string | null | undefined])[] = [
    ["title", title],
    ["started_at", record.started_at],
    ["manifest_version", record.manifest_version],
    ["provider", record.runner.provider],
    ["model", record.runner.model],
    ["sandbox", record.runner.sandbox],
    ["ci_run", record.ci_run?.url],
    ["usage", usage && showUsage(usage)],
    ["notes of the page", notes],
    ["notes", record.notes],
  ];
  return known
    .flatMap(([name, value]) => (value == null ? [] : [`${name}: ${briefly(value, 1000)}`]))
    .join("\n");
};

const outcome = (record: ScenarioRecord): Markup | undefined => {
  const { result, notes } = record;
  if (result === "passing") return undefined;
  if (result === "manual") return markup`<skipped message="${briefly(notes ?? "needs a person")}"/>`;
  const failures = failuresOf(record);
  return markup`<failure message="${briefly(failures[0] ?? notes ?? "failing")}">${endOf((failures.length > 0 ? failures : [notes ?? ""]).join("\n"), TAIL_LENGTH)}</failure>`;
};

const caseOf = (scenario: ScenarioName, record: ScenarioRecord): TestCase => {
  const { repeat, duration_ms, steps, result } = record;
  const output = [factsOf(scenario, record), ...steps.map(outputOf)].join("\n\n");
  return {
    name: repeat === undefined ? scenario.id : `${scenario.id} (${repeat.number} of ${repeat.of})`,
    durationMs: duration_ms,
    result,
    content: markup`${outcome(record)}<system-out>${output}</system-out>`,
  };
};

const caseOfProblem = ({ subject, message }: RunnerProblem): TestCase => ({
  name: subject,
  durationMs: 0,
  result: "error",
  content: markup`<error message="${briefly(message)}">${endOf(message, TAIL_LENGTH)}</error>`,
});

const counts = (cases: readonly TestCase[]) => {
  const having = (wanted: TestCase["result"]): number =>
    cases.filter(({ result }) => result === wanted).length;
  const durationMs = cases.reduce((sum, each) => sum + each.durationMs, 0);
  return {
    all: markup`tests="${cases.length}" failures="${having("failing")}" errors="${having("error")}" time="${seconds(durationMs)}"`,
    skipped: having("manual"),
  };
};

const testCase = (suite: string, { name, durationMs, content }: TestCase): Markup =>
  markup`    <testcase name="${name}" classname="${suite}" time="${seconds(durationMs)}">${content}</testcase>
`;

const testSuite = ({ name, cases }: TestSuite): Markup => {
  const { all, skipped } = counts(cases);
  return markup`  <testsuite name="${name}" ${all} skipped="${skipped}">
${cases.map((each) => testCase(name, each))}  </testsuite>
`;
};

/** One test suite for each runner. Scenarios that were never executed are left out. */
const suitesOf = ({ scenarios, problems }: ReportModel): TestSuite[] => {
  const suites = new Map<string, TestCase[]>();
  const add = (scenario: ScenarioName, runner: RunnerHistory): void => {
    const name = `scenarios.${runnerName(runner)}`;
    const cases = runner.latest.map((record) => caseOf(scenario, record)).toReversed();
    suites.set(name, [...(suites.get(name) ?? []), ...cases]);
  };
  for (const scenario of scenarios) for (const runner of scenario.runners) add(scenario, runner);
  if (problems.length > 0) suites.set(RUNNER_SUITE, problems.map(caseOfProblem));
  return [...suites].map(([name, cases]) => ({ name, cases }));
};

/** The newest results as JUnit XML, which every CI system can show. */
export const junitReport = (model: ReportModel): string => {
  const suites = suitesOf(model);
  return markup`<?xml version="1.0" encoding="UTF-8"?>
${new Markup(JUNIT_MARK)}
<testsuites name="scenarios" ${counts(suites.flatMap(({ cases }) => cases)).all}>
${suites.map(testSuite)}</testsuites>
`.text;
};
