import type { AgentHand } from "../agents/performAgentStep.ts";
import type { Redact } from "../grading/finding.ts";
import type { Workshop } from "../sandbox/scenarioSandbox.ts";
import type { ScenarioSpec } from "../spec.ts";
import type { Suite } from "../suite/suite.ts";
import type { Adapter } from "./executions.ts";

/** A step, or an assertion, that takes longer is stopped. */
export const COMMAND_TIMEOUT_MS = 10 * 60_000;

/** What one execution of a scenario needs. */
export interface Circumstances {
  readonly suite: Suite;
  readonly spec: ScenarioSpec;
  readonly adapter: Adapter;
  /** The project on the host: a fresh copy of the fixture. */
  readonly projectPath: string;
  readonly workshop: Workshop;
  /** Who does the agent's steps; only an execution by the suite's tool can do without. */
  readonly agent: AgentHand | undefined;
  /** Where the product under test is to be fetched from. */
  readonly baseUrl: string | undefined;
  /** That is the local mirror. */
  readonly usesMirror: boolean;
  readonly redact: Redact;
  /** For what a command printed, which may have been cut in the middle of a secret. */
  readonly redactOutput: Redact;
  readonly signal: AbortSignal;
}
