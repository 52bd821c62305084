import { showDuration } from "../../display/duration.ts";
import { showCost, showTokens } from "../../display/tokens.ts";
import type { IterationUsage } from "../../options/results.ts";
import { costOf, sumUsage, totalTokens } from "../../options/usage.ts";
import type { RecordedIteration, RecordedRun } from "./readTrajectory.ts";
import type { RecordedEvent, RecordedStep } from "./steps.ts";

/** Never negative, even if the clock was changed. */
export const millisecondsBetween = (from: string, to: string): number =>
  Math.max(0, Date.parse(to) - Date.parse(from));

/** The reported usage; `undefined` if the agent reports none. */
export const usageIn = (events: readonly RecordedEvent[]): IterationUsage | undefined =>
  sumUsage(events.map((event) => (event.type === "usage" ? event.usage : undefined)));

/** The time, tokens and cost of a run or a part of it. */
export interface Expense {
  readonly durationMs: number;
  readonly usage?: IterationUsage;
  /** Only if the caller has given prices. */
  readonly costUsd?: number;
}

const expenseOf = (
  { prices }: RecordedRun,
  durationMs: number,
  usage: IterationUsage | undefined,
): Expense => ({
  durationMs,
  ...(usage && { usage }),
  ...(usage && prices && { costUsd: costOf(usage, prices) }),
});

export const expenseOfStep = (run: RecordedRun, { durationMs, usage }: RecordedStep): Expense =>
  expenseOf(run, durationMs, usage);

/** For an iteration, including the usage that the agent reported after its last action. */
export const expenseOfIteration = (run: RecordedRun, iteration: RecordedIteration): Expense => {
  const actions = run.actions.filter((action) => action.iteration === iteration.number);
  const usage = sumUsage([...actions.map(({ events }) => usageIn(events)), usageIn(iteration.lastEvents)]);
  return expenseOf(run, millisecondsBetween(iteration.begunAt, iteration.endedAt), usage);
};

export const expenseOfRun = (run: RecordedRun): Expense => {
  const all = run.iterations.map((iteration) => expenseOfIteration(run, iteration));
  const end = run.endedAt ?? run.iterations.at(-1)?.endedAt ?? run.begunAt;
  return expenseOf(run, millisecondsBetween(run.begunAt, end), sumUsage(all.map(({ usage }) => usage)));
};

/** `12.3k tokens`; empty if the agent reports none. */
export const tokensOf = ({ usage }: Expense): string =>
  usage === undefined ? "" : showTokens(totalTokens(usage));

/** In words: `1 min 5 s, 12.3k tokens, $0.12`. */
export const showExpense = (expense: Expense): string =>
  [
    showDuration(expense.durationMs),
    expense.usage && `${tokensOf(expense)} tokens`,
    expense.costUsd === undefined ? undefined : showCost(expense.costUsd),
  ]
    .filter((part) => part !== undefined)
    .join(", ");
