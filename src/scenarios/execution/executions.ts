import type { Scenario } from "../spec.ts";

/** Who does the steps: the suite's tool, or a coding agent. */
export type Adapter = "cli" | "agent";

/** A scenario that is to be executed once. */
export interface Execution {
  readonly scenario: Scenario;
  /** `undefined` for what only a person can do. */
  readonly adapter: Adapter | undefined;
  /** Set if it is to be executed more than once in one suite run. */
  readonly repeat?: { readonly number: number; readonly of: number };
}

/** The scenarios that are meant by `--runnable`: those that can be executed that way, or all. */
export type RunnableFilter = "cli" | "agent" | "both" | "any";

export const RUNNABLE_FILTERS: readonly RunnableFilter[] = ["cli", "agent", "both", "any"];

const isMeant = ({ spec: { runnable } }: Scenario, filter: RunnableFilter): boolean =>
  filter === "any" || runnable === filter || (runnable === "both" && filter !== "both");

export const selectScenarios = (
  scenarios: readonly Scenario[],
  { runnable, only }: { readonly runnable: RunnableFilter; readonly only?: readonly string[] },
): readonly Scenario[] =>
  scenarios.filter(
    (scenario) => isMeant(scenario, runnable) && (only === undefined || only.includes(scenario.id)),
  );

const adaptersOf = (
  { spec: { runnable } }: Scenario,
  filter: RunnableFilter,
  available: readonly Adapter[],
): readonly (Adapter | undefined)[] => {
  if (runnable === "manual") return [undefined];
  if (runnable !== "both") return [runnable];
  if (filter === "cli" || filter === "agent") return [filter];
  // If nobody can do it, the agent's execution says what is missing.
  return available.length === 0 ? ["agent"] : available;
};

/** What has to be executed: a scenario that is for both adapters once for each that is available. */
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
      // An agent that cannot be had is not there the second time either.
      const isAbsent = adapter === "agent" && !available(scenario).includes("agent");
      if (adapter === undefined || isAbsent || repeat === 1) return [{ scenario, adapter }];
      return Array.from({ length: repeat }, (_, index) => ({
        scenario,
        adapter,
        repeat: { number: index + 1, of: repeat },
      }));
    }),
  );
