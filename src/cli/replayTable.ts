import { showToolInput } from "../display/toolInput.ts";
import type { TestResults } from "../environment/contract.ts";
import type { Replay } from "../trajectory/replay.ts";
import { resultsAfter } from "../trajectory/series.ts";
import type { RecordedEvent, Step } from "../trajectory/steps.ts";
import { showChange, showTests, showTool, showTrouble } from "../trajectory/words.ts";
import { textTable } from "./textTable.ts";

/** What can be of any length comes last: a narrow terminal cuts it off. */
const HEADINGS = ["STEP", "TOOL", "FILES", "TESTS", "WHAT"];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const cellsOf = (step: Step): string[] => {
  const trouble = showTrouble(step);
  return [
    String(step.number),
    showTool(step),
    showChange(step),
    showTests(resultsAfter(step)),
    trouble === "" ? step.what : `(${trouble}) ${step.what}`,
  ];
};

/** A recorded run as a table, a line for each step. */
export const replayTable = ({ run, steps }: Replay, columns?: number): string[] => [
  `Run ${run.runId}: ${run.agent}, ${run.state ?? "not ended"}, ${counted(run.actions.length, "action")} in ${counted(run.iterations, "iteration")}, ${counted(run.checkpoints.length, "checkpoint")}`,
  ...textTable(HEADINGS, steps.map(cellsOf), columns),
];

const testLines = (name: string, results: TestResults): string[] => [
  `Tests ${name}: ${results.passed} of ${results.total} pass`,
  ...(results.error === null ? [] : [`  ${results.error}`]),
  ...results.tests
    .filter(({ passed }) => !passed)
    .flatMap(({ path, message = "" }) => [`  ${path}`, ...message.split("\n").map((line) => `    ${line}`)]),
];

const eventLines = (event: RecordedEvent): string[] => {
  switch (event.type) {
    case "text":
      return [event.text.trimEnd()];
    case "toolCall":
      return [`[${event.name}] ${showToolInput(event.input)}`];
    case "toolResult":
      return [`[${event.isError ? "failed" : "result"}] ${event.output}`];
    case "error":
      return [`[error] ${event.message}`];
    default:
      return [];
  }
};

/** One step in full: what was said, what was done, what became of the files. */
export const stepLines = ({ run }: Replay, step: Step, patch: string): string[] => {
  const trouble = showTrouble(step);
  const change = step.change === "none" ? "no files changed" : showChange(step);
  return [
    `Step ${step.number} of ${run.actions.length}${step.tool === undefined ? "" : `: ${step.tool}`}${trouble === "" ? "" : ` (${trouble})`}`,
    step.what,
    `Commit ${step.commit}${step.isHere ? "" : ", which is not here"}: ${change}`,
    ...(step.tests === undefined ? [] : testLines("of the run", step.tests)),
    ...[...step.evaluations].flatMap(([environment, results]) => testLines(`of ${environment}`, results)),
    "",
    ...step.events.flatMap(eventLines),
    ...(patch === "" ? [] : ["", patch]),
  ];
};
