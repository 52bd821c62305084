import type { EnvVars } from "../envVars.ts";
import type { IterationUsage } from "../results.ts";

/** What an agent's output says, one thing at a time. */
export type AgentEvent =
  /** Words of the agent itself, exactly as printed: pieces follow each other without anything in between. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "toolCall"; readonly name: string; readonly input: unknown; readonly id?: string }
  | { readonly type: "toolResult"; readonly output: string; readonly id?: string; readonly isError?: boolean }
  /** Tokens used since the last usage event of the iteration. */
  | { readonly type: "usage"; readonly usage: IterationUsage }
  | { readonly type: "sessionId"; readonly sessionId: string }
  /** The agent's turn is over. This, and not the exit code, decides between success and failure. */
  | { readonly type: "result"; readonly isError: boolean; readonly message?: string }
  /** A line that means nothing to the agent provider; kept, not understood. */
  | { readonly type: "raw"; readonly line: string; readonly stream: "stdout" | "stderr" };

/** An agent event as the caller sees it. */
export type AgentStreamEvent = AgentEvent & { readonly iteration: number; readonly timestamp: Date };

/** One invocation of the agent. */
export interface AgentIteration {
  /** The prompt, fully resolved. */
  readonly prompt: string;
  /** Counts from 1. */
  readonly iteration: number;
}

export interface AgentCommand {
  /** A program with its arguments, or a line for `sh`. Never the prompt: an argument ends at 128 KB. */
  readonly command: readonly string[] | string;
  readonly stdin: string;
}

/** A session in which a person talks to the agent, at a terminal. */
export interface AgentInteraction {
  /** What the session begins with, fully resolved; `undefined` if the person is to begin. */
  readonly prompt: string | undefined;
  /** Whether the agent may do everything without asking: never on the host itself. */
  readonly dangerouslySkipPermissions: boolean;
}

/**
 * Builds the commands of one kind of agent and understands its output.
 *
 * - Its functions MUST be pure and MUST NOT throw.
 * - `parseLine` gets each line without its line end; what it does not know it returns as a `raw` event.
 */
export interface AgentProvider {
  /** Names the agent provider in logs and errors. */
  readonly name: string;
  /** The env vars that the agent needs. None of them may be declared by the sandbox provider too. */
  readonly env?: EnvVars;
  buildCommand(iteration: AgentIteration): AgentCommand;
  parseLine(line: string, stream: "stdout" | "stderr"): readonly AgentEvent[];
  /** The agent always ends its turn with a `result` event: without one it has failed, whatever its exit code. */
  readonly reportsResult?: boolean;
  /**
   * The command that shows the agent's own terminal interface: a program with its arguments, or a line for `sh`. Left
   * out by agents that have none: `interactive()` refuses them.
   */
  interactiveCommand?(interaction: AgentInteraction): readonly string[] | string;
}
