import type { Adapter } from "../execution/executions.ts";
import { isAgentStep, type ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";

const BASE_URL = "{baseUrl}";

/** Whether a scenario uses the base URL: an agent's prompt names it, and the tool's arguments may. */
export const usesBaseUrl = (
  { prerequisites = [], steps = [] }: ScenarioSpec,
  adapters: readonly Adapter[],
  { cliCommand = [] }: Pick<ScenarioSuite, "cliCommand">,
): boolean => {
  const agentSteps = steps.filter(isAgentStep);
  if (adapters.includes("agent") && agentSteps.length > 0) return true;
  if (!cliCommand.some((argument) => argument.includes(BASE_URL))) return false;
  // The tool executes an agent step as a subcommand.
  return [...prerequisites, ...steps].some((step) => "cli" in step) || agentSteps.length > 0;
};
