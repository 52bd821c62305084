import { showDuration } from "../../display/duration.ts";
import { showTokens } from "../../display/tokens.ts";
import type { TaskOutcome, TaskState } from "../../fleet/contract.ts";
import { totalTokens } from "../../options/usage.ts";
import { textTable } from "../shared/textTable.ts";

const HEADINGS = ["TASK", "STATE", "BRANCH", "COMMITS", "TOKENS", "TIME"];

/** The name of a task, or its number. */
export const labelOf = ({ name, index }: Pick<TaskOutcome, "name" | "index">): string =>
  name ?? `task ${index + 1}`;

const cellsOf = (outcome: TaskOutcome): string[] => [
  labelOf(outcome),
  outcome.state,
  outcome.branch ?? "-",
  String(outcome.commits.length),
  outcome.usage === undefined ? "-" : showTokens(totalTokens(outcome.usage)),
  outcome.attempts === 0 ? "-" : showDuration(outcome.durationMs),
];

/** The outcome of each task, one per line. */
export const fleetTable = (outcomes: readonly TaskOutcome[], columns?: number): string[] =>
  textTable(HEADINGS, outcomes.map(cellsOf), columns);

const STATES: readonly TaskState[] = ["succeeded", "unsolved", "failed", "aborted", "not started"];

/** The number of tasks in each state: `48 succeeded, 2 failed`. */
export const countStates = (states: readonly TaskState[]): string =>
  STATES.map((state) => ({ state, count: states.filter((each) => each === state).length }))
    .filter(({ state, count }) => count > 0 || state === "succeeded")
    .map(({ state, count }) => `${count} ${state}`)
    .join(", ");
