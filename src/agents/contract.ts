import type { EnvValue, EnvVars } from "../options/envVars.ts";
import type { IterationUsage } from "../options/results.ts";
import type { McpServers } from "./shared/mcpServers.ts";
import type { AgentSessions } from "./shared/sessions.ts";

/**
 * The kind of an error that an agent reports. `unreachable`: the agent could not connect to its model. `unavailable`: the agent
 * cannot be used as it is installed and configured.
 */
export type AgentErrorKind =
  | "authentication"
  | "rateLimit"
  | "overloaded"
  | "unreachable"
  | "contextLength"
  | "unavailable"
  | "other";

/** One thing that an agent's output says. */
export type AgentEvent =
  /** Words of the agent, exactly as printed. Several events are pieces of one text, with nothing between them. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "toolCall"; readonly name: string; readonly input: unknown; readonly id?: string }
  | { readonly type: "toolResult"; readonly output: string; readonly id?: string; readonly isError?: boolean }
  /** The agent works, or works again: an earlier `result` no longer counts. */
  | { readonly type: "turnStart" }
  /** Tokens used since the last usage event of the iteration. */
  | { readonly type: "usage"; readonly usage: IterationUsage }
  | { readonly type: "sessionId"; readonly sessionId: string }
  /** An error of the model, in the agent's own words. The agent may continue: only a `result` is a verdict. */
  | {
      readonly type: "error";
      readonly kind: AgentErrorKind;
      readonly message: string;
      /** The agent retries by itself. */
      readonly willRetry: boolean;
      /** When a rate limit ends, if the agent reports it. */
      readonly retryAt?: Date;
    }
  /** The agent's turn is over. This, and not the exit code, decides between success and failure. */
  | {
      readonly type: "result";
      readonly isError: boolean;
      readonly message?: string;
      /** The agent would not end by itself after this: it is stopped at once. */
      readonly mustBeStopped?: boolean;
    }
  /** A line that the agent provider does not understand. */
  | { readonly type: "raw"; readonly line: string; readonly stream: "stdout" | "stderr" };

/** An agent event as the caller sees it. */
export type AgentStreamEvent = AgentEvent & { readonly iteration: number; readonly timestamp: Date };

/** The agent session that an invocation resumes. */
export interface ResumedSession {
  readonly sessionId: string;
  /** Continue in a copy that has its own id. */
  readonly isFork: boolean;
  /** The usage of the session so far, if it is known: some agents count from the start of the session. */
  readonly usedBefore?: IterationUsage;
}

/** One invocation of the agent. */
export interface AgentIteration {
  /** The prompt, fully resolved. */
  readonly prompt: string;
  /** Counts from 1. */
  readonly iteration: number;
  readonly resume?: ResumedSession;
  /** Servers whose tools the agent gets besides its own. */
  readonly mcpServers?: McpServers;
}

/** A program as it is started in the sandbox, or on the host for a person. */
export interface AgentProgram {
  /** A program with its arguments, or a line for `sh`. It must not contain the prompt: an argument has at most 128 KB. */
  readonly command: readonly string[] | string;
  /** Env vars for this program only. Those of the session take precedence. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Lines for `sh` that run before the program, in the same shell, for example to write its configuration. Every user of the
   * machine can read them, like the command: put secrets into `env`.
   */
  readonly setup?: string;
}

/** The program of one iteration, and its standard input. */
export interface AgentCommand extends AgentProgram {
  readonly stdin: string;
}

/** A session in which a person talks to the agent, at a terminal. */
export interface AgentInteraction {
  /** The first prompt, fully resolved; `undefined` if the person types it. */
  readonly prompt: string | undefined;
  /** Whether the agent may do everything without asking. Never `true` on the host. */
  readonly dangerouslySkipPermissions: boolean;
  /** Where the agent works. */
  readonly cwd: string;
}

/** Gets each line without its line end. Returns a `raw` event for a line that it does not understand. */
export type AgentOutputParser = (line: string, stream: "stdout" | "stderr") => readonly AgentEvent[];

/** How to install the agent's program, and how to check that it is installed. */
export interface AgentInstallation {
  /** Succeeds, and prints the version, where the agent can be used. */
  readonly versionCommand: readonly string[];
  /** Lines of a Dockerfile that install a version that is known to work. */
  readonly dockerfile: readonly string[];
  /** Env vars with credentials: one of them is enough. */
  readonly credentials: readonly string[];
}

/**
 * Builds the commands of one kind of agent and parses its output.
 *
 * - Its functions MUST NOT have side effects and MUST NOT throw.
 * - `createParser` makes a parser for the output of one invocation. The parser may have state.
 */
export interface AgentProvider<EnvKey extends string = string> {
  /** Names the agent provider in logs and errors. */
  readonly name: string;
  /** The model that the agent uses; for records, e.g. the trajectory of a run. */
  readonly model?: string;
  /** The env vars that the agent needs. None of them may be declared by the sandbox provider too. */
  readonly env?: EnvVars & Readonly<Record<EnvKey, EnvValue | undefined>>;
  buildCommand(iteration: AgentIteration): AgentCommand;
  createParser(iteration: AgentIteration): AgentOutputParser;
  /** The agent always ends its turn with a `result` event. Without one it has failed, whatever its exit code. */
  readonly reportsResult?: boolean;
  /**
   * When the agent reports the tokens that it uses: after each call of the model, or when its turn is over. Without it, budgets
   * are refused.
   */
  readonly reportsUsage?: "perCall" | "perTurn";
  /** `buildCommand` uses `mcpServers`. Without it, they are refused. */
  readonly acceptsMcpServers?: boolean;
  /** Where the agent keeps its sessions. Without it, they are not captured and cannot be resumed. */
  readonly sessions?: AgentSessions;
  /** Copy the agent's session to the host after each iteration; `true` when it is left out. */
  readonly captureSessions?: boolean;
  readonly installation?: AgentInstallation;
  /** Starts the agent's terminal interface. Agents without one leave it out, and `interactive()` refuses them. */
  interactiveCommand?(interaction: AgentInteraction): AgentProgram;
}

export type { McpServer, McpServers } from "./shared/mcpServers.ts";
export type { AgentSessions, SessionDirectory } from "./shared/sessions.ts";
