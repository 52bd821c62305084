import type { RunResult } from "../results.ts";

/** What a result has to tell; an error has the same fields, as far as the run came. */
export type Reached = Partial<RunResult>;

const LABEL_WIDTH = 10;

const line = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${text}`;

const indented = (items: readonly string[]): string[] => items.map((item) => line("", item));

const commitLines = ({ commits = [] }: Reached): string[] =>
  commits.length === 0
    ? [line("Commits", "none")]
    : [line("Commits", String(commits.length)), ...indented(commits.map(({ sha }) => sha))];

/** What a run reached, for people: one thing a line, nothing that is not there. */
export const summaryOf = (reached: Reached): string[] => {
  // A run that had not begun has reached nothing.
  if (reached.runId === undefined) return [];
  const { branch, completionSignal, logFilePath, preservedWorktreePath } = reached;
  const { protectedPaths = [], warnings = [] } = reached;
  return [
    ...(branch === undefined ? [] : [line("Branch", branch)]),
    ...commitLines(reached),
    ...(completionSignal === undefined ? [] : [line("Signal", completionSignal)]),
    ...(preservedWorktreePath === undefined ? [] : [line("Worktree", `kept: ${preservedWorktreePath}`)]),
    ...(protectedPaths.length === 0
      ? []
      : [
          line("Careful", "these changed files run by themselves on a developer's machine:"),
          ...indented(protectedPaths),
        ]),
    ...warnings.map((warning) => line("Warning", warning)),
    ...(logFilePath === undefined ? [] : [line("Log", logFilePath)]),
  ];
};
