import { relative } from "node:path";
import { showDuration } from "../../display/duration.ts";
import type {
  FinishedExecution,
  RunnerProblem,
  ScenarioCounts,
  ScenarioExecution,
} from "../../scenarios/contract.ts";
import type { ScenarioRecord } from "../../scenarios/records/record.ts";
import { isFine } from "../../scenarios/report/words.ts";
import { counted } from "../../tools/counted.ts";

const MARKS = { passing: "✓", failing: "✗", manual: "-" } as const;

const indented = (text: string): string[] => text.split("\n").map((line) => `    ${line}`);

const nameOf = ({ id, runnable, adapter, agent, repeat }: ScenarioExecution): string => {
  const by = runnable === "both" ? ` (${adapter === "agent" ? agent : "cli"})` : "";
  const number = repeat === undefined ? "" : ` ${repeat.number}/${repeat.of}`;
  return `${id}${by}${number}`;
};

const MAX_OUTPUT_LINES = 8;

/** The last output of the step that failed. */
const lastOutput = ({ result, steps }: ScenarioRecord): string[] => {
  const last = steps.at(-1);
  if (result !== "failing" || last === undefined || isFine(last)) return [];
  const output = last.stderr_tail || last.stdout_tail || "";
  if (output === "") return [];
  const lines = output.split("\n").slice(-MAX_OUTPUT_LINES);
  return indented(["last output of the failed step:", ...lines.map((line) => `  ${line}`)].join("\n"));
};

/** The lines that are printed for an execution. */
export const linesOf = (finished: FinishedExecution, width: number): string[] => {
  const { record, recordPath, projectPath } = finished;
  return [
    `${MARKS[record.result]} ${nameOf(finished).padEnd(width)}  ${record.result}  ${showDuration(record.duration_ms)}`,
    ...(record.result !== "passing" && record.notes !== null ? indented(record.notes) : []),
    ...lastOutput(record),
    ...(record.result === "failing" && recordPath !== undefined
      ? indented(`record: ${relative(process.cwd(), recordPath)}`)
      : []),
    ...(projectPath === undefined ? [] : indented(`project: ${projectPath}`)),
  ];
};

/** The width of the column of names. */
export const widthOfNames = (executions: readonly ScenarioExecution[]): number =>
  executions.map(nameOf).reduce((width, { length }) => Math.max(width, length), 0);

export const showCounts = (
  { passing, failing, manual }: ScenarioCounts,
  { length }: readonly RunnerProblem[],
): string =>
  [
    `${passing} passing, ${failing} failing, ${manual} manual`,
    ...(length === 0 ? [] : [counted(length, "problem")]),
  ].join(", ");
