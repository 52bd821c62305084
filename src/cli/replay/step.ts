import { showToolInput } from "../../display/toolInput.ts";
import type { TestResults } from "../../environment/contract.ts";
import { expenseOfStep, showExpense } from "../../trajectory/read/expense.ts";
import type { Replay } from "../../trajectory/read/replay.ts";
import type { RecordedEvent, RecordedStep } from "../../trajectory/read/steps.ts";
import { showChange, showTrouble } from "../../trajectory/show/words.ts";

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

/** The prompt before a step. Step 0 shows the prompt of the first iteration. */
const promptLines = ({ run }: Replay, { number, iteration }: RecordedStep): string[] => {
  const isFirst = run.actions[number - 2]?.iteration !== iteration && number > 1;
  const asked = number === 0 ? run.iterations[0] : run.iterations.find((each) => each.number === iteration);
  if (asked?.prompt === undefined || (number !== 0 && !isFirst)) return [];
  return ["", `Prompt of iteration ${asked.number}:`, asked.prompt.trimEnd()];
};

/** The events after the last step of an iteration. */
const lastLines = ({ run }: Replay, { number, iteration }: RecordedStep): string[] => {
  const isLast = number > 0 && run.actions[number]?.iteration !== iteration;
  const events = isLast ? run.iterations.find((each) => each.number === iteration)?.lastEvents : undefined;
  const lines = (events ?? []).flatMap(eventLines);
  return lines.length === 0 ? [] : ["", `At the end of iteration ${iteration}:`, ...lines];
};

/** One step in full: its events and its changes. */
export const stepLines = (replay: Replay, step: RecordedStep, patch: string): string[] => {
  const { run } = replay;
  const trouble = showTrouble(step);
  const change = step.change === "none" ? "no files changed" : showChange(step);
  return [
    `Step ${step.number} of ${run.actions.length}${step.tool === undefined ? "" : `: ${step.tool}`}${trouble === "" ? "" : ` (${trouble})`}`,
    step.what,
    ...(step.number === 0
      ? []
      : [`Iteration ${step.iteration}, took ${showExpense(expenseOfStep(run, step))}`]),
    `Commit ${step.commit}${step.isHere ? "" : ", which is not here"}: ${change}`,
    ...(step.tests === undefined ? [] : testLines("of the run", step.tests)),
    ...[...step.evaluations].flatMap(([environment, results]) => testLines(`of ${environment}`, results)),
    ...promptLines(replay, step),
    "",
    ...step.events.flatMap(eventLines),
    ...lastLines(replay, step),
    ...(patch === "" ? [] : ["", patch]),
  ];
};
