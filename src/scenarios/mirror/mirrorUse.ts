import type { Adapter } from "../execution/executions.ts";
import { isAgentStep, type ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";

const BASE_URL = "{baseUrl}";

/**
 * Whether something of a scenario is fetched from the base URL: by an agent, whose prompt names it, or by the suite's tool, if
 * its command line has a place for it.
 */
export const usesBaseUrl = (
  { prerequisites = [], steps = [] }: ScenarioSpec,
  adapters: readonly Adapter[],
  { cliCommand = [] }: Pick<ScenarioSuite, "cliCommand">,
): boolean => {
  const agentSteps = steps.filter(isAgentStep);
  if (adapters.includes("agent") && agentSteps.length > 0) return true;
  if (!cliCommand.some((argument) => argument.includes(BASE_URL))) return false;
  // For the tool, the step of an agent is a subcommand.
  return [...prerequisites, ...steps].some((step) => "cli" in step) || agentSteps.length > 0;
};
