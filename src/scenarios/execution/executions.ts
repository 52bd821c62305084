import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { AgentSetup } from "../agents/agentSetup.ts";
import type { RunnableFilter, ScenarioExecution } from "../contract.ts";
import type { Scenario } from "../spec.ts";

/** What executes the steps: the suite's tool, or a coding agent. */
export type Adapter = "cli" | "agent";

/** A scenario that is to be executed once. */
export interface Execution {
  readonly scenario: Scenario;
  /** `undefined` if only a person can execute it. */
  readonly adapter: Adapter | undefined;
  /** Set if the scenario is executed more than once in the suite run. */
  readonly repeat?: { readonly number: number; readonly of: number };
}

/** An execution with what executes it, and where. */
export interface PlannedExecution extends Execution {
  /** `undefined` for an execution by the suite's tool. */
  readonly agent: AgentSetup | undefined;
  readonly sandbox: SandboxProvider | "none";
}

export const RUNNABLE_FILTERS: readonly RunnableFilter[] = ["cli", "agent", "both", "any"];

/** The adapters that a scenario may need. */
export const possibleAdapters = (
  { spec: { runnable } }: Scenario,
  filter: RunnableFilter,
): readonly Adapter[] => {
  if (runnable === "manual") return [];
  if (runnable !== "both") return [runnable];
  return filter === "cli" || filter === "agent" ? [filter] : ["cli", "agent"];
};

const adaptersOf = (
  scenario: Scenario,
  filter: RunnableFilter,
  available: readonly Adapter[],
): readonly (Adapter | undefined)[] => {
  const possible = possibleAdapters(scenario, filter);
  if (possible.length === 0) return [undefined];
  if (possible.length === 1) return possible;
  // If no adapter is available, the agent's execution says what is missing.
  return available.length === 0 ? ["agent"] : available;
};

/** Plans what is executed: a scenario for both adapters once for each that is available. */
export const planExecutions = (
  scenarios: readonly Scenario[],
  {
    runnable,
    available,
    repeat = 1,
  }: {
    readonly runnable: RunnableFilter;
    readonly available: (scenario: Scenario) => readonly Adapter[];
    readonly repeat?: number | undefined;
  },
): readonly Execution[] =>
  scenarios.flatMap((scenario) =>
    adaptersOf(scenario, runnable, available(scenario)).flatMap((adapter) => {
      // An unavailable agent is unavailable the second time, too.
      const isUnavailable = adapter === "agent" && !available(scenario).includes("agent");
      if (adapter === undefined || isUnavailable || repeat === 1) return [{ scenario, adapter }];
      return Array.from({ length: repeat }, (_, index) => ({
        scenario,
        adapter,
        repeat: { number: index + 1, of: repeat },
      }));
    }),
  );

/** An execution as callers of the library see it. */
export const describeExecution = (execution: PlannedExecution): ScenarioExecution => {
  const { scenario, adapter, agent, repeat } = execution;
  const { id, title, spec } = scenario;
  const { runnable, notes } = spec;
  return { id, title, runnable, notes, adapter: adapter ?? "manual", agent: agent?.provider, repeat };
};
