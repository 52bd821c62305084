import { distrustCheckoutOf } from "../../process/hostPrograms.ts";
import { ANY_PROGRAM } from "../agents/agentNames.ts";
import type { AgentSetup } from "../agents/agentSetup.ts";
import type { AgentSetupOptions } from "../agents/prepareAgent.ts";
import type { RunnerProblem, ScenarioNeeds, ScenarioRunOptions, ScenarioSandboxes } from "../contract.ts";
import { usesBaseUrl } from "../mirror/mirrorUse.ts";
import { loadScenarios } from "../pages/loadScenarios.ts";
import { asRunnerProblem } from "../pages/pageProblem.ts";
import type { IndexedScenario } from "../records/writeIndex.ts";
import { isAgentStep, type Scenario, type ScenarioSpec } from "../spec.ts";
import { readSuite } from "../suite/readSuite.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { checkSandboxes } from "./checkRunOptions.ts";
import { type PlannedExecution, planExecutions, possibleAdapters } from "./executions.ts";
import { filterOf, selectScenarios } from "./selectScenarios.ts";

export interface SuiteRunPlan {
  readonly suite: ScenarioSuite;
  readonly executions: readonly PlannedExecution[];
  /** All scenarios of the suite for the index, also those whose pages have mistakes. */
  readonly indexed: readonly IndexedScenario[];
  /** A local mirror provides the base URL. The suite has a `mirrorDir` then. */
  readonly startsMirror: boolean;
  readonly problems: readonly RunnerProblem[];
}

const sandboxesFor = async (
  sandbox: ScenarioRunOptions["sandbox"],
  needs: ScenarioNeeds,
): Promise<ScenarioSandboxes> => {
  if (typeof sandbox === "function") return checkSandboxes(await sandbox(needs));
  return sandbox === undefined ? { cli: "none" } : { cli: sandbox, agent: sandbox };
};

const prepareAgents = async (
  scenarios: readonly Scenario[],
  options: AgentSetupOptions,
): Promise<ReadonlyMap<Scenario, AgentSetup>> => {
  const agents = new Map<Scenario, AgentSetup>();
  if (scenarios.length === 0) return agents;
  // Scenarios without an agent do not load the code that reads env vars and asks git.
  const { prepareAgent } = await import("../agents/prepareAgent.ts");
  for (const scenario of scenarios) agents.set(scenario, await prepareAgent(scenario.spec, options));
  return agents;
};

/** If its agent is unavailable, no step of such a scenario is executed. */
const beginsWithAgent = ({ prerequisites = [], steps = [] }: ScenarioSpec): boolean => {
  const [first] = [...prerequisites, ...steps];
  return first !== undefined && isAgentStep(first);
};

const needsSandbox = ({ adapter, agent, scenario: { spec } }: PlannedExecution): boolean => {
  const isUnavailable = agent !== undefined && "manual" in agent;
  return adapter !== undefined && !(isUnavailable && beginsWithAgent(spec));
};

/** Checks the sandboxes before the first execution: every execution needs one. */
export const preflightSandboxes = async (
  { suite, executions }: SuiteRunPlan,
  signal: AbortSignal,
): Promise<void> => {
  const used = new Set(executions.filter(needsSandbox).map(({ sandbox }) => sandbox));
  for (const provider of used) {
    if (provider !== "none") await provider.preflight?.({ repositoryPath: suite.root, signal });
  }
};

const suiteOf = async (options: ScenarioRunOptions): Promise<ScenarioSuite> => {
  const { cwd, config, scenarioDir, recordsDir } = options;
  const suite = await readSuite({ cwd, config, dir: scenarioDir, recordsDir });
  distrustCheckoutOf(suite.root);
  return suite;
};

/** Reads the suite, selects its scenarios, and chooses their agents and sandboxes. Executes nothing. */
export const planSuiteRun = async (
  options: ScenarioRunOptions,
  signal: AbortSignal,
): Promise<SuiteRunPlan> => {
  const suite = await suiteOf(options);
  const loaded = await loadScenarios(suite);
  const selected = selectScenarios(options, loaded);
  const runnable = filterOf(options);
  const forAgent = selected.filter((scenario) => possibleAdapters(scenario, runnable).includes("agent"));
  const usesMirror =
    options.baseUrl === undefined &&
    suite.mirrorDir !== undefined &&
    selected.some((scenario) => usesBaseUrl(scenario.spec, possibleAdapters(scenario, runnable), suite));
  const { agent } = options;
  const sandboxes = await sandboxesFor(options.sandbox, {
    usesMirror,
    usesAgent: forAgent.length > 0,
    usesModel: (typeof agent === "object" ? agent.name : agent) !== ANY_PROGRAM,
  });
  const agents = await prepareAgents(forAgent, { ...options, suite, sandbox: sandboxes.agent, signal });
  const executions = planExecutions(selected, {
    runnable,
    repeat: options.repeat,
    available: (scenario) => [
      ...(suite.cliCommand === undefined ? [] : (["cli"] as const)),
      ...("manual" in (agents.get(scenario) ?? {}) ? [] : (["agent"] as const)),
    ],
  });
  return {
    suite,
    executions: executions.map((execution) =>
      execution.adapter === "agent"
        ? { ...execution, agent: agents.get(execution.scenario), sandbox: sandboxes.agent ?? "none" }
        : { ...execution, agent: undefined, sandbox: sandboxes.cli },
    ),
    indexed: loaded.ids.map((id) => ({
      id,
      runnable: loaded.scenarios.find((scenario) => scenario.id === id)?.spec.runnable,
    })),
    startsMirror: usesMirror,
    problems: loaded.problems.map(asRunnerProblem),
  };
};
