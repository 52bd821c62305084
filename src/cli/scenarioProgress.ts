import { relative } from "node:path";
import { showDuration } from "../display/duration.ts";
import type { RunRecord } from "../scenarios/record.ts";
import { isFine } from "../scenarios/report/words.ts";
import type { Finished } from "../scenarios/runSuite.ts";

const MARKS = { passing: "✓", failing: "✗", manual: "-" } as const;

const indented = (text: string): string[] => text.split("\n").map((line) => `    ${line}`);

const nameOf = ({ execution: { scenario, adapter, repeat }, record: { runner } }: Finished): string => {
  const by = scenario.spec.runnable === "both" ? ` (${adapter === "agent" ? runner.provider : "cli"})` : "";
  const number = repeat === undefined ? "" : ` ${repeat.number}/${repeat.of}`;
  return `${scenario.id}${by}${number}`;
};

const MAX_SAID_LINES = 8;

/** The last words of the step that failed. */
const lastWords = ({ result, steps }: RunRecord): string[] => {
  const last = steps.at(-1);
  if (result !== "failing" || last === undefined || isFine(last)) return [];
  const said = last.stderr_tail || last.stdout_tail || "";
  return said === "" ? [] : said.split("\n").slice(-MAX_SAID_LINES);
};

/** How an execution went, in lines. */
export const linesOf = (finished: Finished, width: number): string[] => {
  const { record, recordPath, projectPath } = finished;
  return [
    `${MARKS[record.result]} ${nameOf(finished).padEnd(width)}  ${record.result}  ${showDuration(record.duration_ms)}`,
    ...(record.result !== "passing" && record.notes !== null ? indented(record.notes) : []),
    ...lastWords(record).map((line) => `      ${line}`),
    ...(record.result === "failing" ? indented(`record: ${relative(process.cwd(), recordPath)}`) : []),
    ...(projectPath === undefined ? [] : indented(`project: ${projectPath}`)),
  ];
};

/** How wide the names of the scenarios are. */
export const widthOfIds = (ids: readonly string[]): number =>
  ids.reduce((width, { length }) => Math.max(width, length), 0);

/** Something that could not be graded, and says nothing about what is tested. */
export interface Problem {
  /** A page with its line, the id of a scenario, or a file. */
  readonly subject: string;
  readonly message: string;
}

/** How many executions ended in which way. */
export interface Tally {
  readonly passing: number;
  readonly failing: number;
  readonly manual: number;
}

export const tallyOf = (records: readonly RunRecord[]): Tally => {
  const count = (wanted: RunRecord["result"]) => records.filter(({ result }) => result === wanted).length;
  return { passing: count("passing"), failing: count("failing"), manual: count("manual") };
};

export const showTally = ({ passing, failing, manual }: Tally, { length }: readonly Problem[]): string =>
  [
    `${passing} passing, ${failing} failing, ${manual} manual`,
    ...(length === 0 ? [] : [`${length} ${length === 1 ? "problem" : "problems"}`]),
  ].join(", ");
