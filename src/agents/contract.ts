import type { EnvValue, EnvVars } from "../options/envVars.ts";
import type { IterationUsage } from "../options/results.ts";
import type { McpServers } from "./shared/mcpServers.ts";
import type { AgentSessions } from "./shared/sessions.ts";

/**
 * What kind of trouble an agent has with its model. `unreachable`: there was no connection to it, and so no answer.
 * `unavailable`: the agent cannot be used as it is installed and set up.
 */
export type AgentErrorKind =
  | "authentication"
  | "rateLimit"
  | "overloaded"
  | "unreachable"
  | "contextLength"
  | "unavailable"
  | "other";

/** What an agent's output says, one thing at a time. */
export type AgentEvent =
  /** Words of the agent itself, exactly as printed: pieces follow each other without anything in between. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "toolCall"; readonly name: string; readonly input: unknown; readonly id?: string }
  | { readonly type: "toolResult"; readonly output: string; readonly id?: string; readonly isError?: boolean }
  /** The agent is at work, or at work again: what it had said about the end of its turn holds no longer. */
  | { readonly type: "turnStart" }
  /** Tokens used since the last usage event of the iteration. */
  | { readonly type: "usage"; readonly usage: IterationUsage }
  | { readonly type: "sessionId"; readonly sessionId: string }
  /** Trouble with the model, in the agent's own words. The agent may go on: only a `result` is a verdict. */
  | {
      readonly type: "error";
      readonly kind: AgentErrorKind;
      readonly message: string;
      /** The agent tries again by itself. */
      readonly willRetry: boolean;
      /** When a rate limit ends, if the agent tells. */
      readonly retryAt?: Date;
    }
  /** The agent's turn is over. This, and not the exit code, decides between success and failure. */
  | {
      readonly type: "result";
      readonly isError: boolean;
      readonly message?: string;
      /** The agent does not end by itself after this: it is stopped at once. */
      readonly mustBeStopped?: boolean;
    }
  /** A line that means nothing to the agent provider; kept, not understood. */
  | { readonly type: "raw"; readonly line: string; readonly stream: "stdout" | "stderr" };

/** An agent event as the caller sees it. */
export type AgentStreamEvent = AgentEvent & { readonly iteration: number; readonly timestamp: Date };

/** The agent session that an invocation resumes. */
export interface ResumedSession {
  readonly sessionId: string;
  /** Go on in a copy, with an id of its own. */
  readonly isFork: boolean;
  /** What the session had used before, if that is known: some agents count from the session's beginning. */
  readonly usedBefore?: IterationUsage;
}

/** One invocation of the agent. */
export interface AgentIteration {
  /** The prompt, fully resolved. */
  readonly prompt: string;
  /** Counts from 1. */
  readonly iteration: number;
  readonly resume?: ResumedSession;
  /** Tools that the agent is to have besides its own. */
  readonly mcpServers?: McpServers;
}

/** A program as it is started in the sandbox, or, for a person, on the host. */
export interface AgentProgram {
  /** A program with its arguments, or a line for `sh`. Never the prompt of an iteration: an argument ends at 128 KB. */
  readonly command: readonly string[] | string;
  /** Env vars of this program alone. Those of the session win over them. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Lines for `sh` that run before it, in the same place, to write its configuration for instance. Like the command,
   * every user of the machine can read them: put secrets into `env`.
   */
  readonly setup?: string;
}

/** The program of one iteration, and its standard input. */
export interface AgentCommand extends AgentProgram {
  readonly stdin: string;
}

/** A session in which a person talks to the agent, at a terminal. */
export interface AgentInteraction {
  /** What the session begins with, fully resolved; `undefined` if the person is to begin. */
  readonly prompt: string | undefined;
  /** Whether the agent may do everything without asking: never on the host itself. */
  readonly dangerouslySkipPermissions: boolean;
  /** Where the agent works. */
  readonly cwd: string;
}

/** Gets each line without its line end; what it does not know it returns as a `raw` event. */
export type AgentOutputParser = (line: string, stream: "stdout" | "stderr") => readonly AgentEvent[];

/** How to get the agent's program, and how to see that it is there. */
export interface AgentInstallation {
  /** Succeeds, and prints the version, where the agent can be used. */
  readonly versionCommand: readonly string[];
  /** Lines of a Dockerfile that install it, at a version that is known to work; with npm, if it comes from there. */
  readonly dockerfile: readonly string[];
  /** Env vars that let it in: any one of them will do. */
  readonly credentials: readonly string[];
}

/**
 * Builds the commands of one kind of agent and understands its output.
 *
 * - Its functions MUST NOT touch anything and MUST NOT throw.
 * - `createParser` makes a parser for the output of one invocation: it may remember what it has read.
 */
export interface AgentProvider<EnvKey extends string = string> {
  /** Names the agent provider in logs and errors. */
  readonly name: string;
  /** The model that it is told to use; for records, e.g. the trajectory of a run. */
  readonly model?: string;
  /** The env vars that the agent needs. None of them may be declared by the sandbox provider too. */
  readonly env?: EnvVars & Readonly<Record<EnvKey, EnvValue | undefined>>;
  buildCommand(iteration: AgentIteration): AgentCommand;
  createParser(iteration: AgentIteration): AgentOutputParser;
  /** The agent always ends its turn with a `result` event: without one it has failed, whatever its exit code. */
  readonly reportsResult?: boolean;
  /**
   * The agent tells how many tokens it uses: after each call of the model, or not before its turn is over. Without it,
   * budgets are refused.
   */
  readonly reportsUsage?: "perCall" | "perTurn";
  /** `buildCommand` takes `mcpServers` into account. Without it, they are refused. */
  readonly acceptsMcpServers?: boolean;
  /** Where the agent keeps its sessions. Without it, they are not captured and cannot be resumed. */
  readonly sessions?: AgentSessions;
  /** Bring the agent's session to the host after each iteration; `true` when it is left out. */
  readonly captureSessions?: boolean;
  readonly installation?: AgentInstallation;
  /** Shows the agent's own terminal interface. Left out by agents that have none: `interactive()` refuses them. */
  interactiveCommand?(interaction: AgentInteraction): AgentProgram;
}

export type { McpServer, McpServers } from "./shared/mcpServers.ts";
export type { AgentSessions, SessionDirectory } from "./shared/sessions.ts";
