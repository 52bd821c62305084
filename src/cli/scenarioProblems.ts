import { relative } from "node:path";
import type { PageProblem } from "../scenarios/pages/problem.ts";
import { tell } from "./output.ts";

/** As short as it can be opened from here. */
const shown = (page: string): string => {
  const fromHere = relative(process.cwd(), page);
  return fromHere.startsWith("..") ? page : fromHere;
};

/** Tells what is wrong with pages, a line each, in the form that editors and terminals make a link of. */
export const tellPageProblems = async (problems: readonly PageProblem[]): Promise<void> => {
  for (const { page, line, problem } of problems) {
    await tell(`${shown(page)}:${line}: ${problem}.`);
  }
};
