import { shortenTo } from "../../display/columns.ts";
import { showDuration } from "../../display/duration.ts";
import { neutralise } from "../../display/neutralise.ts";
import { counted } from "../../tools/counted.ts";
import { oneLine } from "../../tools/shorten.ts";
import { byIteration } from "../../trajectory/read/byIteration.ts";
import {
  expenseOfIteration,
  expenseOfRun,
  expenseOfStep,
  showExpense,
  tokensOf,
} from "../../trajectory/read/expense.ts";
import type { Replay } from "../../trajectory/read/replay.ts";
import { environmentsOf, testColumns } from "../../trajectory/read/series.ts";
import type { RecordedStep } from "../../trajectory/read/steps.ts";
import { showAgent, showChange, showTests, showTool, showTrouble } from "../../trajectory/show/words.ts";
import { textTable } from "../shared/textTable.ts";

/** Narrower terminals do not show the time and tokens of each step. */
const MIN_COLUMNS_FOR_EXPENSES = 100;

interface Column {
  readonly heading: string;
  readonly cell: (step: RecordedStep) => string;
}

const whatOf = (step: RecordedStep): string => {
  const trouble = showTrouble(step);
  return trouble === "" ? step.what : `(${trouble}) ${step.what}`;
};

/** The column of unlimited width comes last, so that a narrow terminal cuts it off. */
const columnsOf = ({ run, steps }: Replay, width: number): Column[] => {
  const hasTokens = steps.some(({ usage }) => usage !== undefined);
  const isWide = width >= MIN_COLUMNS_FOR_EXPENSES;
  const time = (step: RecordedStep) => (step.number === 0 ? "" : showDuration(step.durationMs));
  return [
    { heading: "STEP", cell: ({ number }) => String(number) },
    { heading: "TOOL", cell: showTool },
    { heading: "FILES", cell: showChange },
    ...testColumns(steps).map(({ heading, resultsOf }) => ({
      heading: oneLine(heading),
      cell: (step: RecordedStep) => showTests(resultsOf(step)),
    })),
    ...(isWide ? [{ heading: "TIME", cell: time }] : []),
    ...(isWide && hasTokens
      ? [{ heading: "TOKENS", cell: (step: RecordedStep) => tokensOf(expenseOfStep(run, step)) }]
      : []),
    { heading: "WHAT", cell: whatOf },
  ];
};

/** The lines about the run as a whole. */
const factLines = ({ run, steps }: Replay): string[] => {
  const prompt = run.iterations[0]?.prompt;
  const evaluated = environmentsOf(steps);
  return [
    `Run ${run.runId}: ${run.agent}, ${run.state ?? "not ended"}, ${counted(run.actions.length, "action")} in ${counted(run.iterations.length, "iteration")}, ${counted(run.checkpoints.length, "checkpoint")}`,
    ...showAgent(run),
    `Took: ${showExpense(expenseOfRun(run))}`,
    ...(prompt === undefined ? [] : [`Prompt: ${prompt.trim()}`]),
    ...(evaluated.length === 0 ? [] : [`Evaluated with: ${evaluated.join(", ")}`]),
  ];
};

/** A recorded run as a table, a line for each step, with a heading for each iteration if there are several. */
export const replayTable = (replay: Replay, width = Number.POSITIVE_INFINITY): string[] => {
  const { run, steps } = replay;
  const shown = columnsOf(replay, width);
  const [headings = "", ...rows] = textTable(
    shown.map(({ heading }) => heading),
    steps.map((step) => shown.map(({ cell }) => cell(step))),
    width,
  );
  const body = byIteration(run, steps).flatMap(({ iteration, steps: group }) => [
    ...(iteration === undefined || run.iterations.length < 2
      ? []
      : [`Iteration ${iteration.number}: ${showExpense(expenseOfIteration(run, iteration))}`]),
    ...group.map(({ number }) => rows[number] ?? ""),
  ]);
  const facts = factLines(replay).map((line) => shortenTo(neutralise(oneLine(line)), width));
  return [...facts, headings, ...body];
};
