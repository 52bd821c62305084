import { type LoadedScenarios, loadScenarios } from "../pages/loadScenarios.ts";
import { fixtureProblems } from "../project/fixtures.ts";
import { readSuite } from "./readSuite.ts";
import type { ScenarioSuite } from "./suite.ts";
import type { SuiteChoice } from "./suiteFile.ts";

export type CheckedSuite = Pick<LoadedScenarios, "scenarios" | "problems"> & {
  readonly suite: ScenarioSuite;
};

/** Reads a suite, and finds everything in its pages and fixtures that would keep scenarios from being executed. */
export const checkSuite = async (choice: SuiteChoice): Promise<CheckedSuite> => {
  const suite = await readSuite(choice);
  const { scenarios, problems } = await loadScenarios(suite);
  return { suite, scenarios, problems: [...problems, ...fixtureProblems(suite, scenarios)] };
};
