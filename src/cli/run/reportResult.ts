import { nextLines, type Reached, reachedLines, warningLines } from "../../display/summary.ts";
import type { RunResult } from "../../options/results.ts";
import { print, printJson } from "../shared/output.ts";

/** How the command line is answered: as JSON, as text, or not at all because terminal mode has done it. */
export interface Answer {
  readonly json: boolean;
  /** The run itself has shown what it reached. */
  readonly isShown: boolean;
  /** A directory of the repository that the run worked on; the current one if it is left out. */
  readonly cwd?: string | undefined;
}

/** With what the commits hold. Loaded only now: most errors come before there are any. */
export const withWork = async <Told extends Reached>(told: Told, cwd = "."): Promise<Told & Reached> => {
  if (told.commits === undefined || told.commits.length === 0) return told;
  const { summariseRunWork } = await import("../../runs/summariseRunWork.ts");
  return { ...told, work: await summariseRunWork(cwd, told) };
};

/** As the lines of a run's own summary are. */
export const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

/** As it is, and last: it may have any number of lines. */
const outputLines = ({ output }: RunResult<unknown>): string[] =>
  typeof output === "string" ? ["Output", output] : [];

/** Prints what `run()` resolved with. */
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
