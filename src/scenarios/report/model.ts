import type { RunnerProblem } from "../contract.ts";
import type { ScenarioRecord, ScenarioResult } from "../records/record.ts";
import type { Runnable, Scenario } from "../spec.ts";
import { runnerHistory, worstOf } from "./runnerHistory.ts";
import type { Rate } from "./wilson.ts";
import { runnerName } from "./words.ts";

/** A scenario that exists, whether it was ever executed or not. */
export interface ScenarioName {
  readonly id: string;
  readonly title: string;
  /** Who executes it, if that is known: what others made of it in earlier days no longer counts. */
  readonly runnable?: Runnable;
  /** Of its page. */
  readonly notes?: string;
}

/** What the suite's tool, or one agent, has made of a scenario. */
export interface RunnerHistory {
  /** `agent` also if the agent could not be had. */
  readonly kind: ScenarioRecord["runner"]["kind"];
  readonly provider: string | null;
  /** Newest first. */
  readonly executions: readonly ScenarioRecord[];
  /** Those of the newest suite run, newest first: one, unless it was repeated. */
  readonly latest: readonly ScenarioRecord[];
  /** How the newest suite run ended. One failure among its executions is a failure. */
  readonly result: ScenarioResult;
  /** How often it failed in the newest suite run that was repeated: with nothing changed in between, that is flakiness. */
  readonly flakeRate?: Rate;
  /** How often it failed in all its history. */
  readonly failureRate?: Rate;
  readonly medianMs?: number;
}

export interface ScenarioHistory extends ScenarioName {
  /** The worst of the latest results of those who execute it. */
  readonly result: ScenarioResult | "never";
  /** Those who execute it; if none of them ever has, all who have. */
  readonly runners: readonly RunnerHistory[];
  /** Those who executed it when it was another kind of scenario: history, and no result. */
  readonly earlier: readonly RunnerHistory[];
}

export interface ReportModel {
  /** In the order in which they were named. */
  readonly scenarios: readonly ScenarioHistory[];
  /** Scenarios by result. */
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

/** Those that have the same key, in the order in which the keys appear. */
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

/** Whether a scenario is executed by such a runner today. */
const isExecutedBy = (runnable: Runnable | undefined, { kind }: RunnerHistory): boolean =>
  runnable === undefined || (runnable === "both" ? kind !== "manual" : kind === runnable);

/** The results of one runner with one scenario belong together. */
const historyKey = ({ test_id, runner }: Pick<ScenarioRecord, "test_id" | "runner">): string =>
  JSON.stringify([test_id, runnerName(runner)]);

/**
 * The records of what was executed, with the history of each: same scenario, same runner. What claims to be newer is no
 * history, and must not stand for what was executed.
 */
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

/** What a report has to know of the scenarios of a suite. */
export const namesOf = (scenarios: readonly Scenario[]): readonly ScenarioName[] =>
  scenarios.map(({ id, title, spec: { runnable, notes } }) => ({
    ...{ id, title, runnable },
    ...(notes !== undefined && { notes }),
  }));

/** Puts records together to what a report shows. Records of scenarios that are not named are left out. */
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
