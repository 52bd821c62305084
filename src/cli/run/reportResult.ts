import { nextLines, type Reached, reachedLines, warningLines } from "../../display/summary.ts";
import type { RunResult } from "../../options/results.ts";
import { print, printJson } from "../shared/output.ts";

/** The form of the answer: JSON, text, or nothing because terminal mode has shown it. */
export interface Answer {
  readonly json: boolean;
  /** Whether the run has shown its result itself. */
  readonly isShown: boolean;
  /** A directory of the repository that the run worked on; the current one if it is left out. */
  readonly cwd?: string | undefined;
}

/** Adds a summary of the commits. Imported here, because most errors have no commits. */
export const withWork = async <Told extends Reached>(told: Told, cwd = "."): Promise<Told & Reached> => {
  if (told.commits === undefined || told.commits.length === 0) return told;
  const { summariseRunWork } = await import("../../runs/summariseRunWork.ts");
  return { ...told, work: await summariseRunWork(cwd, told) };
};

/** Indented like the summary of a run. */
export const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** Last, because it may have any number of lines. */
const outputLines = ({ output }: RunResult<unknown>): string[] =>
  typeof output === "string" ? ["Output", output] : [];

/** Prints the result of `run()`. */
export const reportResult = async (
  result: RunResult<unknown>,
  { json, isShown, cwd }: Answer,
): Promise<void> => {
  if (json) return printJson(result);
  const told = await withWork(result, cwd);
  const next = nextLines(told, result.solved !== false);
  const lines = isShown
    ? indented(next)
    : [...reachedLines(told), ...warningLines(told), ...next, ...outputLines(result)];
  if (lines.length > 0) await print(lines.join("\n"));
};
