import type { RunResult } from "../results.ts";
import { showDuration } from "./duration.ts";
import type { Tally } from "./tally.ts";

/** What a result has to tell; an error has the same fields, as far as the run came. */
export type Reached = Partial<RunResult>;

const LABEL_WIDTH = 12;

/** Names of files and branches may hold line ends, which would make lines of their own. */
const visible = (text: string): string =>
  text.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));

const line = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${visible(text)}`;

const indented = (items: readonly string[]): string[] => items.map((item) => line("", item));

/** The rest is in the result, and in git. */
const MAX_LISTED = 10;

const listed = (items: readonly string[]): string[] =>
  indented(
    items.length <= MAX_LISTED
      ? items
      : [...items.slice(0, MAX_LISTED), `… and ${items.length - MAX_LISTED} more`],
  );

const commitLines = ({ commits = [] }: Reached): string[] =>
  commits.length === 0
    ? [line("Commits", "none")]
    : [line("Commits", String(commits.length)), ...listed(commits.map(({ sha }) => sha))];

const number = (count: number): string => count.toLocaleString("en-US");

/** What a run has done, in figures. */
export const tallyLines = ({ iterations, toolCalls, usage, durationMs }: Tally): string[] => {
  const input = usage && usage.inputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens;
  return [
    line("Iterations", number(iterations)),
    line("Tool calls", number(toolCalls)),
    ...(usage === undefined || input === undefined
      ? []
      : [
          line(
            "Tokens",
            `${number(input)} in (${number(usage.cacheReadInputTokens)} cached), ${number(usage.outputTokens)} out`,
          ),
        ]),
    line("Duration", showDuration(durationMs)),
  ];
};

/** What a run reached, for people: one thing a line, nothing that is not there. */
export const reachedLines = (reached: Reached): string[] => {
  // A run that had not begun has reached nothing.
  if (reached.runId === undefined) return [];
  const { branch, completionSignal, logFilePath, preservedWorktreePath, protectedPaths = [] } = reached;
  return [
    ...(branch === undefined ? [] : [line("Branch", branch)]),
    ...commitLines(reached),
    ...(completionSignal === undefined ? [] : [line("Signal", completionSignal)]),
    ...(preservedWorktreePath === undefined ? [] : [line("Worktree", `kept: ${preservedWorktreePath}`)]),
    ...(protectedPaths.length === 0
      ? []
      : [line("Careful", "these run by themselves once checked out:"), ...listed(protectedPaths)]),
    ...(logFilePath === undefined ? [] : [line("Log", logFilePath)]),
  ];
};

export const warningLines = ({ warnings = [] }: Reached): string[] =>
  warnings.map((warning) => line("Warning", warning));
