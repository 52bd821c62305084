import { showDuration } from "../../display/duration.ts";
import { neutralise } from "../../display/neutralise.ts";
import type { ReportModel, RunnerHistory, ScenarioHistory } from "./model.ts";
import type { RunRecord, StepRecord } from "./record.ts";
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

/** Colours and other typefaces of a terminal mean nothing on a page. */
const STYLING = /\u001b\[[0-9;:]*m/g;

/** A text of anybody's, as it can stand on any page: with no control characters, all of it Unicode, and XML. */
export const harmless = (text: string): string =>
  neutralise(text.replace(STYLING, "").replaceAll("\r\n", "\n"))
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[\ufffe\uffff]/g, "\ufffd");

/** The beginning of a text, in one line. */
export const briefly = (text: string, maxLength = 300): string => {
  const line = text
    .slice(0, maxLength * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength)}…`;
};

/** The end of a text, which is where a command says what went wrong. */
export const endOf = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `…${text.slice(-maxLength)}`;

/** The end of what a command printed, without empty lines around it, one of which HTML would swallow. */
export const printed = (text: string | undefined, maxLength: number): string | undefined => {
  const shown = harmless(text ?? "")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
  return shown === "" ? undefined : endOf(shown, maxLength);
};

/** The same for every reader, wherever it is rendered: a page made on a server must not change in a browser. */
export const showTime = (time: string): string =>
  `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;

export const showMs = (durationMs: number): string =>
  durationMs < 1000 ? `${Math.round(durationMs)} ms` : showDuration(durationMs);

/** How long an execution took; to find out that nothing can be found out takes no time worth telling. */
export const tookTime = ({ result, duration_ms }: RunRecord): string =>
  result === "manual" ? "" : showMs(duration_ms);

/** `1 step`, `2 steps`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const notShown = (count: number, noun: string): string =>
  `${counted(count, noun)} ${count === 1 ? "is" : "are"} not shown.`;

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
export const circumstances = ({ runner }: RunRecord): string =>
  [runnerName(runner), runner.model, runner.kind === "manual" ? null : (runner.sandbox ?? "host")]
    .filter((part) => part !== null)
    .join(" · ");

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** `1 of 5 failed`. */
export const briefRate = ({ events, trials }: Rate): string => `${events} of ${trials} failed`;

/** `1 of 5 failed: 20 % (95 % interval: 4 % to 62 %)`. */
export const showRate = (rate: Rate): string =>
  `${briefRate(rate)}: ${percent(rate.share)} (95 % interval: ${percent(rate.low)} to ${percent(rate.high)})`;

/** Only what leads to the web becomes a link: a record is not trusted to run anything. */
export const webAddress = (url: string | undefined): string | undefined => {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
};

/** Whether a step ended as it was to, or as it was allowed to. */
export const isFine = ({ exit_code, allow_nonzero }: StepRecord): boolean =>
  exit_code === 0 || allow_nonzero === true;

/** `exit 0`; `exit 1, allowed`; `not done`. */
export const showEnd = ({ exit_code, allow_nonzero, manual }: StepRecord): string =>
  manual ? "not done" : `exit ${exit_code}${allow_nonzero ? ", allowed" : ""}`;

/** Why an execution failed, in the order in which it happened. */
export const failuresOf = ({ result, steps, assertions }: RunRecord): string[] => {
  if (result !== "failing") return [];
  const last = steps.at(-1);
  return [
    ...(last === undefined || isFine(last) ? [] : [`${last.name}: exit code ${last.exit_code}`]),
    ...assertions.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`),
  ];
};

/** The notes of an execution, without the reasons of its failure and the notes of its page. */
export const remarksOf = (record: RunRecord, ofPage = ""): string => {
  const known = [...failuresOf(record), "failed assertions:", ofPage].filter((text) => text !== "");
  return known.reduce((notes, text) => notes.replace(text, ""), record.notes ?? "").trim();
};
