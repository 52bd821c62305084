import type { PageProblem } from "../../scenarios/pages/pageProblem.ts";
import { shownPath } from "../../scenarios/pages/shownPath.ts";
import type { RunnerProblem } from "../../scenarios/report/runnerProblem.ts";
import type { ScenarioSuite } from "../../scenarios/suite/suite.ts";
import { tell } from "../shared/output.ts";

/** A problem of a page, as reports show it. */
export const asRunnerProblem = ({ page, line, problem }: PageProblem): RunnerProblem => ({
  subject: `${shownPath(page)}:${line}`,
  message: problem,
});

/** Reports are published, as records are: they show no path of this machine. */
export const withoutPaths = async (
  problems: readonly RunnerProblem[],
  suite: ScenarioSuite | undefined,
): Promise<readonly RunnerProblem[]> => {
  const { pathReplacer, suitePaths } = await import("../../scenarios/records/redactRecord.ts");
  const replace = pathReplacer(suite === undefined ? new Map([[process.cwd(), "."]]) : suitePaths(suite));
  return problems.map(({ subject, message }) => ({ subject: replace(subject), message: replace(message) }));
};

/** Tells what is wrong with pages, a line each, in the form that editors and terminals make a link of. */
export const tellPageProblems = async (problems: readonly PageProblem[]): Promise<void> => {
  for (const { page, line, problem } of problems) {
    await tell(`${shownPath(page)}:${line}: ${problem}.`);
  }
};
