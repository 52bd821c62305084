import type { ScenarioRecord, ScenarioResult } from "../records/record.ts";
import type { RunnerHistory } from "./model.ts";
import { suiteRunsOf } from "./suiteRuns.ts";
import { type Rate, rateOf } from "./wilson.ts";

const RESULTS = ["failing", "passing", "manual"] as const satisfies readonly ScenarioResult[];

/** The result of several executions: any failure wins, and passing wins over manual. */
export const worstOf = (results: readonly ScenarioResult[]): ScenarioResult | undefined =>
  RESULTS.find((result) => results.includes(result));

const isGraded = ({ result }: ScenarioRecord): boolean => result !== "manual";

const failuresIn = (executions: readonly ScenarioRecord[]): Rate | undefined => {
  const graded = executions.filter(isGraded);
  return rateOf(graded.filter(({ result }) => result === "failing").length, graded.length);
};

const medianOf = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [before = 0, after] = [sorted[middle - 1], sorted[middle]];
  if (after === undefined) return undefined;
  return sorted.length % 2 === 1 ? after : (before + after) / 2;
};

/** The history of a scenario with one runner, from its executions, newest first; empty if there are none. */
export const runnerHistory = (executions: readonly ScenarioRecord[]): RunnerHistory[] => {
  const [newest] = executions;
  if (newest === undefined) return [];
  const suiteRuns = suiteRunsOf(executions);
  const latest = suiteRuns[0] ?? [];
  const flakeRate = failuresIn(suiteRuns.find((suiteRun) => suiteRun.filter(isGraded).length > 1) ?? []);
  const failureRate = failuresIn(executions);
  const medianMs = medianOf(executions.filter(isGraded).map(({ duration_ms }) => duration_ms));
  return [
    {
      kind: newest.runner.provider === null ? newest.runner.kind : "agent",
      provider: newest.runner.provider,
      executions,
      latest,
      result: worstOf(latest.map(({ result }) => result)) ?? newest.result,
      ...(flakeRate !== undefined && { flakeRate }),
      ...(failureRate !== undefined && { failureRate }),
      ...(medianMs !== undefined && { medianMs }),
    },
  ];
};
