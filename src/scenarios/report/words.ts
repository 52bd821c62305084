import { showMs } from "../../markup/words.ts";
import type { ScenarioRecord, StepRecord } from "../records/record.ts";
import type { ReportModel, RunnerHistory, ScenarioHistory } from "./model.ts";
import type { Rate } from "./wilson.ts";

/** What a reader sees of a result besides its colour. */
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

/** How long an execution took; to find out that nothing can be found out takes no time worth telling. */
export const tookTime = ({ result, duration_ms }: ScenarioRecord): string =>
  result === "manual" ? "" : showMs(duration_ms);

/** `1 failing, 2 passing`; nothing if there are no scenarios. */
export const showCounts = (counts: ReportModel["counts"]): string =>
  (["failing", "passing", "manual", "never"] as const)
    .filter((result) => counts[result] > 0)
    .map((result) => `${counts[result]} ${RESULT_WORDS[result]}`)
    .join(", ");

/** Tells runners apart. An agent that could not be had is still that agent. */
export const runnerName = ({ kind, provider }: Pick<RunnerHistory, "kind" | "provider">): string =>
  provider === null ? kind : `agent ${provider}`;

/** `by cli`, `by agent codex`, `by hand`. */
export const byWhom = (runner: Pick<RunnerHistory, "kind" | "provider">): string => {
  const name = runnerName(runner);
  return `by ${name === "manual" ? "hand" : name}`;
};

/** What made an execution what it was: the runner with its model, and where it ran. */
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

/** Whether a step ended as it was to, or as it was allowed to. */
export const isFine = ({ exit_code, allow_nonzero }: StepRecord): boolean =>
  exit_code === 0 || allow_nonzero === true;

/** `exit 0`; `exit 1, allowed`; `not done`. */
export const showEnd = ({ exit_code, allow_nonzero, manual }: StepRecord): string =>
  manual ? "not done" : `exit ${exit_code}${allow_nonzero ? ", allowed" : ""}`;

/** Why an execution failed, in the order in which it happened. */
export const failuresOf = ({ result, steps, assertions }: ScenarioRecord): string[] => {
  if (result !== "failing") return [];
  const last = steps.at(-1);
  return [
    ...(last === undefined || isFine(last) ? [] : [`${last.name}: exit code ${last.exit_code}`]),
    ...assertions.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`),
  ];
};

/** The notes of an execution, without the reasons of its failure and the notes of its page. */
export const remarksOf = (record: ScenarioRecord, ofPage = ""): string => {
  const known = [...failuresOf(record), "failed assertions:", ofPage].filter((text) => text !== "");
  return known.reduce((notes, text) => notes.replace(text, ""), record.notes ?? "").trim();
};
