import type { AgentSetup } from "../agents/agentSetup.ts";
import type { Redact } from "../grading/finding.ts";
import type { ScenarioSandbox } from "../sandbox/scenarioSandbox.ts";
import type { ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import type { Adapter } from "./executions.ts";

/** A step, or an assertion, that takes longer is stopped. */
export const COMMAND_TIMEOUT_MS = 10 * 60_000;

/** What one execution of a scenario needs. */
export interface ExecutionContext {
  readonly suite: ScenarioSuite;
  readonly spec: ScenarioSpec;
  readonly adapter: Adapter;
  /** The project on the host: a fresh copy of the fixture. */
  readonly projectPath: string;
  readonly scenarioSandbox: ScenarioSandbox;
  /** Who does the agent's steps; only an execution by the suite's tool can do without. */
  readonly agent: AgentSetup | undefined;
  /** Where the product under test is to be fetched from. */
  readonly baseUrl: string | undefined;
  /** That is the local mirror. */
  readonly usesMirror: boolean;
  readonly redact: Redact;
  /** For what a command printed, which may have been cut in the middle of a secret. */
  readonly redactOutput: Redact;
  readonly signal: AbortSignal;
}
