import { harmless, notShown, webAddress } from "../../markup/words.ts";
import { counted } from "../../tools/counted.ts";
import { briefly } from "../../tools/shorten.ts";
import type { ScenarioRecord } from "../records/record.ts";
import type { ReportModel, RunnerHistory, ScenarioHistory } from "./model.ts";
import { briefUsage } from "./usage.ts";
import {
  byWhom,
  failuresOf,
  RESULT_SIGNS,
  RESULT_WORDS,
  remarksOf,
  runnerName,
  showCounts,
  showRate,
  tookTime,
} from "./words.ts";

/** Marks a file as a report of sanddune, which may be replaced. */
export const MARKDOWN_MARK = "<!-- sanddune scenario report -->";

/** GitHub's summaries are limited to a mebibyte. */
const MOST_ROWS = 500;
const MOST_FAILURES = 100;
const MOST_FAILURES_EACH = 10;
const MOST_NOTES = 100;
const MOST_PROBLEMS = 100;

/** Escapes a text so that Markdown, HTML and GitHub show it unchanged in a cell or a line. */
const inline = (text: string, maxLength?: number): string =>
  harmless(briefly(text, maxLength))
    .replace(/[\\`*_[\]#!|~$@]/g, "\\$&")
    // At the beginning, these make a list or a rule.
    .replace(/^(\d*)([-+.)])/, "$1\\$2")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    // GitHub turns addresses into links.
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, (character) => `&#${character.charCodeAt(0)};`);

const ciLink = ({ ci_run }: ScenarioRecord): string => {
  const address = webAddress(ci_run?.url);
  // Characters that could end the link are percent-encoded.
  return address === undefined
    ? ""
    : `[CI run](<${harmless(address).replace(/[<>|`\\\s]/g, encodeURIComponent)}>)`;
};

const row = ({ id, title }: ScenarioHistory, runner: RunnerHistory): string => {
  const [newest] = runner.latest;
  const cells = [
    `${RESULT_SIGNS[runner.result]} ${RESULT_WORDS[runner.result]}`,
    title === id ? inline(id, 200) : `${inline(title, 200)} (${inline(id, 200)})`,
    inline(runnerName(runner), 80),
    newest === undefined ? "" : tookTime(newest),
    newest === undefined ? "" : briefUsage(newest),
    inline(newest?.manifest_version ?? "", 40),
    newest === undefined ? "" : ciLink(newest),
  ];
  return `| ${cells.join(" | ")} |`;
};

const neverRow = ({ id, title }: ScenarioHistory): string =>
  `| ${RESULT_SIGNS.never} ${RESULT_WORDS.never} | ${inline(title === id ? id : `${title} (${id})`)} | | | | | |`;

const failureLines = ({ id }: ScenarioHistory, runner: RunnerHistory): string[] => {
  const { latest, flakeRate } = runner;
  if (runner.result !== "failing") return [];
  const failed = latest.find(({ result }) => result === "failing");
  const failures = failed === undefined ? [] : failuresOf(failed);
  const reasons = failures.length > 0 ? failures : [failed?.notes ?? "no reason was recorded"];
  const hidden = reasons.length - MOST_FAILURES_EACH;
  const isRepeated = latest.length > 1 && flakeRate !== undefined;
  return [
    `- **${inline(id, 200)}** ${inline(byWhom(runner), 80)}${isRepeated ? `, ${showRate(flakeRate)}` : ""}`,
    ...reasons.slice(0, MOST_FAILURES_EACH).map((reason) => `  - ${inline(reason, 500)}`),
    ...(hidden > 0 ? [`  - and ${hidden} more`] : []),
  ];
};

/** The notes of the page, and of the newest execution. */
const noteLines = ({ id, notes = "", runners }: ScenarioHistory): string[] => {
  const remarks = runners.flatMap(({ latest }) =>
    latest.slice(0, 1).map((record) => remarksOf(record, notes)),
  );
  return [notes, ...new Set(remarks)]
    .filter((text) => text !== "")
    .map((text) => `- **${inline(id, 200)}**: ${inline(text, 500)}`);
};

const beyond = (count: number, most: number, noun: string): string[] =>
  count > most ? ["", notShown(count - most, `more ${noun}`)] : [];

const section = (
  title: string,
  noun: string,
  items: readonly (readonly string[])[],
  most: number,
): string[] =>
  items.length === 0
    ? []
    : ["", `### ${title}`, "", ...items.slice(0, most).flat(), ...beyond(items.length, most, noun)];

/** The newest results as Markdown, for the summary of a CI run. */
export const markdownReport = ({ scenarios, counts, problems }: ReportModel): string => {
  const rows = scenarios.flatMap((scenario) =>
    scenario.runners.length === 0
      ? [neverRow(scenario)]
      : scenario.runners.map((each) => row(scenario, each)),
  );
  const errors = problems.map(({ subject, message }) => [
    `- **${inline(subject, 300)}**: ${inline(message, 1000)}`,
  ]);
  const failures = scenarios.flatMap((scenario) =>
    scenario.runners.map((runner) => failureLines(scenario, runner)).filter((lines) => lines.length > 0),
  );
  const notes = scenarios.flatMap(noteLines).map((line) => [line]);
  const summary = [showCounts(counts), errors.length > 0 && counted(errors.length, "error")];
  return [
    MARKDOWN_MARK,
    "",
    `## Scenarios: ${summary.filter(Boolean).join(", ") || "none yet"}`,
    ...section("Errors of the runner", "error", errors, MOST_PROBLEMS),
    "",
    "| Result | Scenario | By | Took | Tokens | Version | CI |",
    "| --- | --- | --- | ---: | ---: | --- | --- |",
    ...rows.slice(0, MOST_ROWS),
    ...beyond(rows.length, MOST_ROWS, "result"),
    ...section("Why they fail", "failure", failures, MOST_FAILURES),
    ...section("Notes", "note", notes, MOST_NOTES),
    "",
  ].join("\n");
};
