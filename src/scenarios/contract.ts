import type { AgentProvider } from "../agents/contract.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import type { ScenarioRecord } from "./records/record.ts";
import type { Runnable } from "./spec.ts";

/** Selects scenarios by what can execute them. A scenario for `both` is also selected by `cli` and by `agent`. */
export type RunnableFilter = "cli" | "agent" | "both" | "any";

/** What the selected scenarios need from their sandboxes. */
export interface ScenarioNeeds {
  /** The local mirror, which listens on the host's loopback address. */
  readonly usesMirror: boolean;
  readonly usesAgent: boolean;
  /** The agent has to reach a model over the network. */
  readonly usesModel: boolean;
}

/** Where scenarios are executed; `"none"` is the host itself. */
export interface ScenarioSandboxes {
  /** For executions by the suite's tool. */
  readonly cli: SandboxProvider | "none";
  /** For executions by an agent. If it is left out, they are `manual`: no agent works on the host unasked. */
  readonly agent?: SandboxProvider | "none";
}

/** The options of `runScenarios()`. */
export interface ScenarioRunOptions {
  /** The suite is looked for in the repository of this directory. By default the current directory. */
  readonly cwd?: string;
  /** The suite's config file, relative to `cwd`. By default `.sanddune/scenarios.json` of the repository. */
  readonly config?: string;
  /** The directory of the scenario pages, relative to `cwd`, instead of the one in the config file. */
  readonly scenarioDir?: string;
  /** The directory that records are written to, relative to `cwd`, instead of the one in the config file. */
  readonly recordsDir?: string;
  /** The ids of the scenarios to execute. By default all that `runnable` selects. */
  readonly only?: readonly string[];
  /** By default `"cli"`, so that no model is paid for unasked; with `only`, `"any"`. */
  readonly runnable?: RunnableFilter;
  /** The agent of all scenarios: a provider, or a name such as `"codex"`. By default `ide_platform` of each page. */
  readonly agent?: AgentProvider | string;
  /** The model of every agent step. Not with an agent provider, which has its own model. */
  readonly model?: string;
  /** The model of agent steps that name none. */
  readonly defaultModel?: string;
  /** The time limit of agent steps that have none; 10 minutes by default. */
  readonly agentTimeoutMs?: number;
  /**
   * Where everything is executed; `"none"` is the host itself. By default the suite's tool runs on the host, and scenarios
   * for agents are `manual`. A function chooses by what the selected scenarios need.
   */
  readonly sandbox?:
    | SandboxProvider
    | "none"
    | ((needs: ScenarioNeeds) => ScenarioSandboxes | Promise<ScenarioSandboxes>);
  /** Where the tested product is fetched from, instead of a local mirror. */
  readonly baseUrl?: string;
  /** How many scenarios are executed at a time; by default one for each core. */
  readonly concurrency?: number;
  /** How often each scenario is executed, to measure how often it fails. */
  readonly repeat?: number;
  /** Keep the project directories, e.g. to inspect what an agent has written. */
  readonly keepProjects?: boolean;
  /** Keep only the newest records of each scenario, and all of this suite run. */
  readonly keepRecords?: number;
  /** The address of the CI run, for the records. */
  readonly ciUrl?: string;
  /** Read and check everything, and report what would be executed; execute nothing. */
  readonly dryRun?: boolean;
  /** Aborting ends all executions and removes their projects. Records that were written by then stay. */
  readonly signal?: AbortSignal;
  /** Called with each event, in order. Errors that it throws are ignored. */
  readonly onProgress?: (event: ScenarioRunEvent) => void;
}

/** One execution of a scenario. */
export interface ScenarioExecution {
  /** The scenario's id. */
  readonly id: string;
  readonly title: string;
  readonly runnable: Runnable;
  /** The notes of the scenario's page. */
  readonly notes?: string;
  /** Executed by the suite's tool, by an agent, or by a person. */
  readonly adapter: "cli" | "agent" | "manual";
  /** The agent's name, if there is one. */
  readonly agent?: string;
  /** Set if the scenario is executed more than once. */
  readonly repeat?: { readonly number: number; readonly of: number };
}

/** An execution that has ended. */
export interface FinishedExecution extends ScenarioExecution {
  /** How it went, as it was written to the records directory. */
  readonly record: ScenarioRecord;
  /** Not set if the record could not be written; the reason is among the problems. */
  readonly recordPath?: string;
  /** Set with `keepProjects`. */
  readonly projectPath?: string;
}

/** An error of the runner itself, or of a page. It is not a verdict on the tested product; reports count it as an error. */
export interface RunnerProblem {
  /** A page with its line, the id of a scenario, or a file. */
  readonly subject: string;
  readonly message: string;
}

/** Where the parts of a suite are. All paths are absolute. */
export interface ScenarioSuitePaths {
  /** The suite's commands see this directory, read-only, where they run in a sandbox. */
  readonly root: string;
  readonly scenarioDir: string;
  readonly fixturesRoot: string;
  readonly recordsDir: string;
  /** The local mirror serves this directory; without it no mirror is started. */
  readonly mirrorDir?: string;
}

/** The progress of `runScenarios()`. */
export type ScenarioRunEvent =
  /** Everything was read and checked. `problems` are those of pages, whose scenarios are not executed. */
  | {
      readonly type: "planned";
      readonly suite: ScenarioSuitePaths;
      readonly executions: readonly ScenarioExecution[];
      readonly problems: readonly RunnerProblem[];
    }
  | { readonly type: "mirrorStarted"; readonly baseUrl: string }
  | { readonly type: "finished"; readonly execution: FinishedExecution }
  /** The runner has failed, at an execution or after it. */
  | { readonly type: "problem"; readonly problem: RunnerProblem; readonly projectPath?: string };

/** How many executions ended with which result. */
export interface ScenarioCounts {
  readonly passing: number;
  readonly failing: number;
  readonly manual: number;
}

/** What `runScenarios()` resolves with. */
export interface ScenarioRunResult extends ScenarioCounts {
  readonly suite: ScenarioSuitePaths;
  /** What was to be executed. */
  readonly planned: readonly ScenarioExecution[];
  /** In the order in which they ended; empty after a dry run. */
  readonly executions: readonly FinishedExecution[];
  /** Errors of pages and of the runner itself. Results are complete only if there are none. */
  readonly problems: readonly RunnerProblem[];
}
