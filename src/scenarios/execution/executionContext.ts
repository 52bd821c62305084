import type { AgentSetup } from "../agents/agentSetup.ts";
import type { Redact } from "../grading/finding.ts";
import type { ScenarioSandbox } from "../sandbox/scenarioSandbox.ts";
import type { ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import type { Adapter } from "./executions.ts";

/** The time limit of an assertion, and of a step that has none. */
export const COMMAND_TIMEOUT_MS = 10 * 60_000;

export interface ExecutionContext {
  readonly suite: ScenarioSuite;
  readonly spec: ScenarioSpec;
  readonly adapter: Adapter;
  /** The project on the host: a fresh copy of the fixture. */
  readonly projectPath: string;
  readonly scenarioSandbox: ScenarioSandbox;
  /** `undefined` for an execution by the suite's tool. */
  readonly agent: AgentSetup | undefined;
  /** The address that the tested product is fetched from. */
  readonly baseUrl: string | undefined;
  /** `baseUrl` is the local mirror. */
  readonly usesMirror: boolean;
  readonly redact: Redact;
  /** For the output of commands, whose beginning may have been cut off in the middle of a secret. */
  readonly redactOutput: Redact;
  readonly signal: AbortSignal;
}
