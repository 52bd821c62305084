import type { AgentProvider } from "../../agents/contract.ts";
import type { ResolvedEnv } from "../../envVars/envValues.ts";
import type { AgentStep } from "../spec.ts";

interface NamedAgent {
  /** The agent's name. */
  readonly provider: string;
  /** `null` if the agent has no choice of models. */
  readonly model: string | null;
  /** Values that must not be shown, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

export interface ReadyAgent extends NamedAgent {
  agentFor(step: AgentStep): AgentProvider;
  readonly env: ResolvedEnv;
  /** The time limit of steps that have none. */
  readonly timeoutMs: number;
}

export interface UnavailableAgent extends NamedAgent {
  /** Why it is unavailable, and what to do about it. */
  readonly manual: string;
}

/** The agent of a scenario with its model and env vars, or the reason why it is unavailable. */
export type AgentSetup = ReadyAgent | UnavailableAgent;
