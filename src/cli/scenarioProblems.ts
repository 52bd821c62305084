import type { PageProblem } from "../scenarios/pages/problem.ts";
import { shownPath } from "../scenarios/pages/shownPath.ts";
import { tell } from "./output.ts";

/** Tells what is wrong with pages, a line each, in the form that editors and terminals make a link of. */
export const tellPageProblems = async (problems: readonly PageProblem[]): Promise<void> => {
  for (const { page, line, problem } of problems) {
    await tell(`${shownPath(page)}:${line}: ${problem}.`);
  }
};
