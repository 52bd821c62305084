import { showMs } from "../../markup/words.ts";
import type { ScenarioRecord, StepRecord } from "../records/record.ts";
import type { ReportModel, RunnerHistory, ScenarioHistory } from "./model.ts";
import type { Rate } from "./wilson.ts";

/** The sign of each result, for readers who do not see colours. */
export const RESULT_SIGNS: Readonly<Record<ScenarioHistory["result"], string>> = {
  passing: "✓",
  failing: "✗",
  manual: "○",
  never: "·",
};

export const RESULT_WORDS: Readonly<Record<ScenarioHistory["result"], string>> = {
  passing: "passing",
  failing: "failing",
  manual: "manual",
  never: "never run",
};

/** How long an execution took; empty for manual ones, in which nothing was executed. */
export const tookTime = ({ result, duration_ms }: ScenarioRecord): string =>
  result === "manual" ? "" : showMs(duration_ms);

/** `1 failing, 2 passing`; empty if there are no scenarios. */
export const showCounts = (counts: ReportModel["counts"]): string =>
  (["failing", "passing", "manual", "never"] as const)
    .filter((result) => counts[result] > 0)
    .map((result) => `${counts[result]} ${RESULT_WORDS[result]}`)
    .join(", ");

/** The name of a runner. An unavailable agent keeps its name. */
export const runnerName = ({ kind, provider }: Pick<RunnerHistory, "kind" | "provider">): string =>
  provider === null ? kind : `agent ${provider}`;

/** `by cli`, `by agent codex`, `by hand`. */
export const byWhom = (runner: Pick<RunnerHistory, "kind" | "provider">): string => {
  const name = runnerName(runner);
  return `by ${name === "manual" ? "hand" : name}`;
};

/** The runner with its model, and where it ran. */
export const runnerDetails = ({ runner }: ScenarioRecord): string =>
  [runnerName(runner), runner.model, runner.kind === "manual" ? null : (runner.sandbox ?? "host")]
    .filter((part) => part !== null)
    .join(" · ");

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** `1 of 5 failed`. */
export const briefRate = ({ events, trials }: Rate): string => `${events} of ${trials} failed`;

/** `1 of 5 failed: 20 % (95 % interval: 4 % to 62 %)`. */
export const showRate = (rate: Rate): string =>
  `${briefRate(rate)}: ${percent(rate.share)} (95 % interval: ${percent(rate.low)} to ${percent(rate.high)})`;

/** Whether a step succeeded, or failed and was allowed to. */
export const isFine = ({ exit_code, allow_nonzero }: StepRecord): boolean =>
  exit_code === 0 || allow_nonzero === true;

/** `exit 0`; `exit 1, allowed`; `not done`. */
export const showEnd = ({ exit_code, allow_nonzero, manual }: StepRecord): string =>
  manual ? "not done" : `exit ${exit_code}${allow_nonzero ? ", allowed" : ""}`;

/** Why an execution failed, in chronological order. */
export const failuresOf = ({ result, steps, assertions }: ScenarioRecord): string[] => {
  if (result !== "failing") return [];
  const last = steps.at(-1);
  return [
    ...(last === undefined || isFine(last) ? [] : [`${last.name}: exit code ${last.exit_code}`]),
    ...assertions.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`),
  ];
};

/** The notes of an execution without failures and notes of its page, which are shown separately. */
export const remarksOf = (record: ScenarioRecord, ofPage = ""): string => {
  const known = [...failuresOf(record), "failed assertions:", ofPage].filter((text) => text !== "");
  return known.reduce((notes, text) => notes.replace(text, ""), record.notes ?? "").trim();
};
