import type { LineProblem } from "../../tools/json/textProblem.ts";
import type { RunnerProblem } from "../contract.ts";
import { shownPath } from "./shownPath.ts";

/** What is wrong with a scenario page. */
export interface PageProblem extends LineProblem {
  /** Absolute. */
  readonly page: string;
}

/** A problem of a page, as results and reports show it. */
export const asRunnerProblem = ({ page, line, problem }: PageProblem): RunnerProblem => ({
  subject: `${shownPath(page)}:${line}`,
  message: problem,
});
