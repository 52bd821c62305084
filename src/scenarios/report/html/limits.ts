import type { ScenarioRecord } from "../../records/record.ts";
import type { ReportModel, RunnerHistory } from "../model.ts";

export interface HtmlLimits {
  /** How many executions of each runner are listed. */
  readonly lines: number;
  /** The executions that can be opened, with their steps and assertions. */
  readonly detailed: ReadonlySet<ScenarioRecord>;
  /** How many characters of each step's output are shown. */
  readonly tailLength: number;
}

const MOST_LINES = 50;
const DETAILED = 5;
const DETAILED_FAILURES = 3;

/**
 * Limits for the whole page. With 300 scenarios and 50 records each, the page has 3.3 MB and 83,000 elements, is
 * shown in 0.4 s, and reacts to a click in 0.06 s. Without limits it had 14.4 MB and 371,000 elements, and took 4.7 s
 * and 3.7 s.
 */
const LINES_BUDGET = 3000;
const DETAILS_BUDGET = 450;
const OUTPUT_BUDGET = 2_000_000;
const LONGEST_TAIL = 8000;

interface Candidate {
  readonly record: ScenarioRecord;
  readonly rank: number;
}

/** The newest executions and the last failures, ranked: the reason of a present failure comes first. */
const candidatesOf = ({ executions, result }: RunnerHistory, lines: number): Candidate[] => {
  const shown = executions.slice(0, lines);
  const failures = shown.filter((record) => record.result === "failing").slice(0, DETAILED_FAILURES);
  const [lastFailure] = result === "failing" ? failures : [];
  const chosen = new Set([...shown.slice(0, DETAILED), ...failures]);
  return [...chosen].map((record) => ({
    record,
    rank: record === lastFailure ? -1 : shown.indexOf(record),
  }));
};

/** Divides the limits of the page among the runners of all scenarios. */
export const limitsFor = ({ scenarios }: ReportModel): HtmlLimits => {
  const runners = scenarios.flatMap(({ runners: todays, earlier }) => [...todays, ...earlier]);
  const lines = Math.min(MOST_LINES, Math.max(1, Math.floor(LINES_BUDGET / Math.max(1, runners.length))));
  const detailed = runners
    .flatMap((runner) => candidatesOf(runner, lines))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, DETAILS_BUDGET)
    .map(({ record }) => record);
  const steps = detailed.reduce((sum, record) => sum + record.steps.length, 0);
  return {
    lines,
    detailed: new Set(detailed),
    tailLength: Math.min(LONGEST_TAIL, Math.floor(OUTPUT_BUDGET / Math.max(1, 2 * steps))),
  };
};
