import type { RunnerProblem } from "../contract.ts";
import type { ScenarioRecord, ScenarioResult } from "../records/record.ts";
import type { Runnable, Scenario } from "../spec.ts";
import { runnerHistory, worstOf } from "./runnerHistory.ts";
import type { Rate } from "./wilson.ts";
import { runnerName } from "./words.ts";

/** A scenario of a suite, whether or not it was ever executed. */
export interface ScenarioName {
  readonly id: string;
  readonly title: string;
  /** What executes it, if that is known: results of other runners no longer count. */
  readonly runnable?: Runnable;
  /** The notes of its page. */
  readonly notes?: string;
}

/** The history of a scenario with one runner: the suite's tool, or one agent. */
export interface RunnerHistory {
  /** `agent` also if the agent was unavailable. */
  readonly kind: ScenarioRecord["runner"]["kind"];
  readonly provider: string | null;
  /** Newest first. */
  readonly executions: readonly ScenarioRecord[];
  /** The executions of the newest suite run, newest first: one, unless it was repeated. */
  readonly latest: readonly ScenarioRecord[];
  /** How the newest suite run ended. One failure among its executions is a failure. */
  readonly result: ScenarioResult;
  /** Its failures in the newest suite run with `--repeat`: as nothing changes, this is flakiness. */
  readonly flakeRate?: Rate;
  /** How often it failed in its whole history. */
  readonly failureRate?: Rate;
  readonly medianMs?: number;
}

export interface ScenarioHistory extends ScenarioName {
  /** The worst of the latest results of its runners. */
  readonly result: ScenarioResult | "never";
  /** The runners that execute it. If none of them has executed it yet, all runners that have. */
  readonly runners: readonly RunnerHistory[];
  /** Runners that executed it when its `runnable` was different. They do not count for the result. */
  readonly earlier: readonly RunnerHistory[];
}

export interface ReportModel {
  /** In the order in which they were given. */
  readonly scenarios: readonly ScenarioHistory[];
  readonly counts: Readonly<Record<ScenarioHistory["result"], number>>;
  readonly executions: number;
  /** The newest execution of all. */
  readonly newest?: ScenarioRecord;
  /** Errors of the runner itself. */
  readonly problems: readonly RunnerProblem[];
}

const startOf = ({ started_at }: ScenarioRecord): number => Date.parse(started_at);

export const byNewest = (a: ScenarioRecord, b: ScenarioRecord): number =>
  startOf(b) - startOf(a) || (b.repeat?.number ?? 0) - (a.repeat?.number ?? 0);

/** Groups records by key, in the order in which the keys appear. */
export const groupsBy = (
  records: readonly ScenarioRecord[],
  keyOf: (record: ScenarioRecord) => string,
): Map<string, ScenarioRecord[]> => {
  const groups = new Map<string, ScenarioRecord[]>();
  for (const record of records) {
    const group = groups.get(keyOf(record));
    if (group === undefined) groups.set(keyOf(record), [record]);
    else group.push(record);
  }
  return groups;
};

/** Whether this kind of runner executes the scenario now. */
const isExecutedBy = (runnable: Runnable | undefined, { kind }: RunnerHistory): boolean =>
  runnable === undefined || (runnable === "both" ? kind !== "manual" : kind === runnable);

/** Identifies the history of one runner with one scenario. */
const historyKey = ({ test_id, runner }: Pick<ScenarioRecord, "test_id" | "runner">): string =>
  JSON.stringify([test_id, runnerName(runner)]);

/** The executed records, and earlier ones of the same scenario and runner. None may claim to be newer. */
export const recordsOf = (
  records: readonly ScenarioRecord[],
  executed: readonly ScenarioRecord[],
): readonly ScenarioRecord[] => {
  const newest = new Map<string, number>();
  for (const record of executed) {
    const key = historyKey(record);
    newest.set(key, Math.max(newest.get(key) ?? 0, startOf(record)));
  }
  return records.filter((record) => startOf(record) <= (newest.get(historyKey(record)) ?? -Infinity));
};

export const historyOf = (name: ScenarioName, records: readonly ScenarioRecord[]): ScenarioHistory => {
  const byRunner = groupsBy(records, ({ runner }) => runnerName(runner));
  const all = [...byRunner.keys()].sort().flatMap((key) => runnerHistory(byRunner.get(key) ?? []));
  const todays = all.filter((runner) => isExecutedBy(name.runnable, runner));
  const runners = todays.length === 0 ? all : todays;
  return {
    ...name,
    runners,
    earlier: all.filter((runner) => !runners.includes(runner)),
    result: worstOf(runners.map(({ result }) => result)) ?? "never",
  };
};

/** The scenarios of a suite, as reports need them. */
export const namesOf = (scenarios: readonly Scenario[]): readonly ScenarioName[] =>
  scenarios.map(({ id, title, spec: { runnable, notes } }) => ({
    ...{ id, title, runnable },
    ...(notes !== undefined && { notes }),
  }));

/** Builds the model of a report from records. Records of other scenarios than `names` are left out. */
export const reportModel = (
  records: readonly ScenarioRecord[],
  names: readonly ScenarioName[],
  problems: readonly RunnerProblem[] = [],
): ReportModel => {
  const byId = groupsBy(records.toSorted(byNewest), ({ test_id }) => test_id);
  const scenarios = names.map((name) => historyOf(name, byId.get(name.id) ?? []));
  const count = (wanted: ScenarioHistory["result"]): number =>
    scenarios.filter(({ result }) => result === wanted).length;
  const shown = scenarios.flatMap(({ runners, earlier }) =>
    [...runners, ...earlier].flatMap(({ executions }) => executions),
  );
  const newest = shown.toSorted(byNewest)[0];
  return {
    scenarios,
    counts: {
      passing: count("passing"),
      failing: count("failing"),
      manual: count("manual"),
      never: count("never"),
    },
    executions: shown.length,
    problems,
    ...(newest !== undefined && { newest }),
  };
};
