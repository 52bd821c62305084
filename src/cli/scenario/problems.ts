import type { RunnerProblem, ScenarioSuitePaths } from "../../scenarios/contract.ts";
import { tell } from "../shared/output.ts";

/** Reports are published, as records are: they show no path of this machine. */
export const withoutPaths = async (
  problems: readonly RunnerProblem[],
  suite: ScenarioSuitePaths | undefined,
): Promise<readonly RunnerProblem[]> => {
  const { pathReplacer, suitePaths } = await import("../../scenarios/records/redactRecord.ts");
  const replace = pathReplacer(suite === undefined ? new Map([[process.cwd(), "."]]) : suitePaths(suite));
  return problems.map(({ subject, message }) => ({ subject: replace(subject), message: replace(message) }));
};

/** Prints the problems of pages, a line each, as `page:line: problem`, which editors and terminals make a link of. */
export const tellPageProblems = async (problems: readonly RunnerProblem[]): Promise<void> => {
  for (const { subject, message } of problems) await tell(`${subject}: ${message}.`);
};
