import { availableParallelism } from "node:os";
import { didYouMean } from "../../options/checks/checks.ts";
import { distrustCheckoutOf } from "../../process/hostPrograms.ts";
import { preflight } from "../../sandboxes/handle/preflight.ts";
import type { AgentSetup } from "../../scenarios/agents/performAgentStep.ts";
import type { AgentSetupOptions } from "../../scenarios/agents/prepareAgent.ts";
import type { Adapter, Execution, RunnableFilter } from "../../scenarios/execution/executions.ts";
import type { SuiteRun } from "../../scenarios/execution/runSuite.ts";
import type { PageProblem } from "../../scenarios/pages/pageProblem.ts";
import { isAgentStep, type Scenario, type ScenarioSpec } from "../../scenarios/spec.ts";
import { agentNames } from "../run/agentFlags.ts";
import { UsageError } from "../shared/usageError.ts";
import { version } from "../version.ts";
import { checkSelection } from "./checkSelection.ts";
import type { ScenarioRunFlags } from "./runFlags.ts";
import { checkAddress, type ScenarioSandboxes, scenarioSandboxes } from "./sandbox.ts";

/** What is to be executed, and what of the suite cannot be. */
export interface ScenarioRunPlan {
  readonly run: Omit<SuiteRun, "onMirror" | "onFinished" | "onProblem" | "signal">;
  readonly scenarios: readonly Scenario[];
  readonly problems: readonly PageProblem[];
}

/** Who may have to execute a scenario. */
const adaptersFor = ({ runnable }: ScenarioSpec, filter: RunnableFilter): readonly Adapter[] => {
  if (runnable === "both") return filter === "cli" || filter === "agent" ? [filter] : ["cli", "agent"];
  return runnable === "manual" ? [] : [runnable];
};

/** A slip here would make all scenarios manual, which is not a failure. */
const checkAgent = ({ agent, agentCommand }: ScenarioRunFlags): void => {
  // What pages call it is understood here too.
  const known = [...agentNames, "claude"];
  if (agent === "command" && agentCommand === undefined) {
    throw new UsageError("--agent command needs a program: pass --agent-command 'sh ./agent.sh'");
  }
  if (agent === undefined || known.includes(agent)) return;
  throw new UsageError(
    `--agent: there is no ${JSON.stringify(agent)}; expected one of: ${agentNames.join(", ")}.${didYouMean(agent, agentNames)}`,
  );
};

/** Nothing of such a scenario is executed if its agent is unavailable. */
const beginsWithAgent = ({ prerequisites = [], steps = [] }: ScenarioSpec): boolean => {
  const [first] = [...prerequisites, ...steps];
  return first !== undefined && isAgentStep(first);
};

/** Sandboxes are tried before the first scenario: none of them would get further. */
const tryOut = async (
  executions: readonly Execution[],
  sandboxes: ScenarioSandboxes,
  agentOf: SuiteRun["agentOf"],
  { repositoryPath, signal }: { readonly repositoryPath: string; readonly signal: AbortSignal },
): Promise<void> => {
  const isUsed = (adapter: "cli" | "agent") =>
    executions.some((execution) => {
      const setup = agentOf(execution);
      const isAbsent = setup !== undefined && "manual" in setup;
      return execution.adapter === adapter && !(isAbsent && beginsWithAgent(execution.scenario.spec));
    });
  for (const adapter of ["cli", "agent"] as const) {
    const provider = sandboxes[adapter];
    if (provider === undefined || provider === "none" || !isUsed(adapter)) continue;
    await preflight(provider, { repositoryPath, signal });
  }
};

/** Who does the agent's steps of each of these scenarios. */
const prepareAgents = async (
  scenarios: readonly Scenario[],
  options: AgentSetupOptions,
): Promise<ReadonlyMap<Scenario, AgentSetup>> => {
  const hands = new Map<Scenario, AgentSetup>();
  if (scenarios.length === 0) return hands;
  const { prepareAgent } = await import("../../scenarios/agents/prepareAgent.ts");
  for (const scenario of scenarios) {
    hands.set(scenario, await prepareAgent(scenario.spec, options));
  }
  return hands;
};

/** Finds out what the command line means, before anything is executed. */
export const planScenarioRun = async (
  dir: string | undefined,
  flags: ScenarioRunFlags,
  signal: AbortSignal,
): Promise<ScenarioRunPlan> => {
  checkAddress("--ci", flags.ci);
  checkAddress("--base-url", flags.baseUrl);
  checkAgent(flags);
  // Only now: whoever wants the help, or a completion, does not wait for the engine.
  const [
    { readSuite },
    { loadScenarios },
    { planExecutions, selectScenarios },
    { readOverrides },
    { chooseSandbox },
    { usesBaseUrl },
  ] = await Promise.all([
    import("../../scenarios/suite/readSuite.ts"),
    import("../../scenarios/pages/loadScenarios.ts"),
    import("../../scenarios/execution/executions.ts"),
    import("../../scenarios/agents/overrides.ts"),
    import("../../scenarios/sandbox/chooseSandbox.ts"),
    import("../../scenarios/mirror/mirrorUse.ts"),
  ]);
  const suite = await readSuite({ cwd: flags.cwd, dir, config: flags.config });
  distrustCheckoutOf(suite.root);
  const { scenarios, ids, problems } = await loadScenarios(suite);
  const runnable = flags.runnable ?? (flags.only === undefined ? "cli" : "any");
  const selected = selectScenarios(scenarios, { runnable, ...(flags.only && { only: flags.only }) });
  checkSelection(flags, runnable, { scenarios, ids, selected, problems });
  const usesMirror =
    flags.baseUrl === undefined &&
    suite.mirrorDir !== undefined &&
    selected.some(({ spec }) => usesBaseUrl(spec, adaptersFor(spec, runnable), suite));
  const forAgent = selected.filter(({ spec }) => adaptersFor(spec, runnable).includes("agent"));
  const agent = flags.agent ?? (flags.agentCommand === undefined ? undefined : "command");
  const overrides = readOverrides({ ...flags, agent }, process.env);
  const sandboxes = await scenarioSandboxes(flags, {
    usesMirror,
    usesAgent: forAgent.length > 0,
    usesModel: overrides.agent !== "command",
  });
  const hands = await prepareAgents(forAgent, { suite, overrides, sandbox: sandboxes.agent, signal });
  const agentOf = ({ scenario, adapter }: Execution) =>
    adapter === "agent" ? hands.get(scenario) : undefined;
  const executions = planExecutions(selected, {
    runnable,
    repeat: flags.repeat,
    available: (scenario) => [
      ...(suite.cliCommand === undefined ? [] : (["cli"] as const)),
      ...("manual" in (hands.get(scenario) ?? {}) ? [] : (["agent"] as const)),
    ],
  });
  await tryOut(executions, sandboxes, agentOf, { repositoryPath: suite.root, signal });
  return {
    scenarios,
    problems,
    run: {
      suite,
      executions,
      indexed: ids.map((id) => ({
        id,
        runnable: scenarios.find((scenario) => scenario.id === id)?.spec.runnable,
      })),
      runnerVersion: version,
      baseUrl: flags.baseUrl,
      startsMirror: usesMirror,
      ciUrl: flags.ci,
      concurrency: flags.concurrency ?? availableParallelism(),
      keepsProjects: flags.keepTmp ?? false,
      keep: flags.keep,
      agentOf,
      sandboxOf: ({ adapter }, projectPath, runner) =>
        chooseSandbox((adapter === "agent" ? sandboxes.agent : sandboxes.cli) ?? "none", {
          suite,
          projectPath,
          runner,
        }),
    },
  };
};
