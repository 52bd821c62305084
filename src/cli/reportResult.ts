import { reachedLines, warningLines } from "../display/summary.ts";
import type { RunResult } from "../results.ts";
import { print, printJson } from "./output.ts";

/** How the command line is answered: as JSON, as text, or not at all because terminal mode has done it. */
export interface Answer {
  readonly json: boolean;
  /** The run itself has shown what it reached. */
  readonly isShown: boolean;
}

/** As it is, and last: it may have any number of lines. */
const outputLines = ({ output }: RunResult<unknown>): string[] =>
  typeof output === "string" ? ["Output", output] : [];

/** Prints what `run()` resolved with. */
export const reportResult = async (result: RunResult<unknown>, { json, isShown }: Answer): Promise<void> => {
  if (json) await printJson(result);
  else if (!isShown) {
    await print([...reachedLines(result), ...warningLines(result), ...outputLines(result)].join("\n"));
  }
};
