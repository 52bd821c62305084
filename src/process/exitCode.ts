import { constants } from "node:os";

/** 128 + n for a process that signal n ended, which is never success. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal]);

/** An exit code in words, with the signal that it stands for. */
export const describeExitCode = (exitCode: number): string => {
  const [name] = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number) ?? [];
  return name === undefined ? `exit code ${exitCode}` : `exit code ${exitCode} (${name})`;
};
