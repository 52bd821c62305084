import { relative } from "node:path";
import { showDuration } from "../../display/duration.ts";
import type { Execution } from "../../scenarios/execution/executions.ts";
import type { FinishedExecution, SuiteRun } from "../../scenarios/execution/runSuite.ts";
import type { ScenarioRecord } from "../../scenarios/records/record.ts";
import type { RunnerProblem } from "../../scenarios/report/runnerProblem.ts";
import { isFine } from "../../scenarios/report/words.ts";
import { counted } from "../../tools/counted.ts";

const MARKS = { passing: "✓", failing: "✗", manual: "-" } as const;

const indented = (text: string): string[] => text.split("\n").map((line) => `    ${line}`);

/** What an execution is called; `agent` is who does the agent's steps. */
const nameOf = ({ scenario, adapter, repeat }: Execution, agent: string | null | undefined): string => {
  const by = scenario.spec.runnable === "both" ? ` (${adapter === "agent" ? agent : "cli"})` : "";
  const number = repeat === undefined ? "" : ` ${repeat.number}/${repeat.of}`;
  return `${scenario.id}${by}${number}`;
};

const MAX_SAID_LINES = 8;

/** The last words of the step that failed, below a line that says so. */
const lastWords = ({ result, steps }: ScenarioRecord): string[] => {
  const last = steps.at(-1);
  if (result !== "failing" || last === undefined || isFine(last)) return [];
  const said = last.stderr_tail || last.stdout_tail || "";
  if (said === "") return [];
  const lines = said.split("\n").slice(-MAX_SAID_LINES);
  return indented(["last words of the step that failed:", ...lines.map((line) => `  ${line}`)].join("\n"));
};

/** How an execution went, in lines. */
export const linesOf = (finished: FinishedExecution, width: number): string[] => {
  const { execution, record, recordPath, projectPath } = finished;
  const name = nameOf(execution, record.runner.provider);
  return [
    `${MARKS[record.result]} ${name.padEnd(width)}  ${record.result}  ${showDuration(record.duration_ms)}`,
    ...(record.result !== "passing" && record.notes !== null ? indented(record.notes) : []),
    ...lastWords(record),
    ...(record.result === "failing" && recordPath !== undefined
      ? indented(`record: ${relative(process.cwd(), recordPath)}`)
      : []),
    ...(projectPath === undefined ? [] : indented(`project: ${projectPath}`)),
  ];
};

/** How wide the names of executions are. */
export const widthOfNames = ({ executions, agentOf }: Pick<SuiteRun, "executions" | "agentOf">): number =>
  executions
    .map((execution) => nameOf(execution, agentOf(execution)?.provider))
    .reduce((width, { length }) => Math.max(width, length), 0);

/** How many executions ended in which way. */
export interface Tally {
  readonly passing: number;
  readonly failing: number;
  readonly manual: number;
}

export const tallyOf = (records: readonly ScenarioRecord[]): Tally => {
  const count = (wanted: ScenarioRecord["result"]) =>
    records.filter(({ result }) => result === wanted).length;
  return { passing: count("passing"), failing: count("failing"), manual: count("manual") };
};

export const showTally = (
  { passing, failing, manual }: Tally,
  { length }: readonly RunnerProblem[],
): string =>
  [
    `${passing} passing, ${failing} failing, ${manual} manual`,
    ...(length === 0 ? [] : [counted(length, "problem")]),
  ].join(", ");
