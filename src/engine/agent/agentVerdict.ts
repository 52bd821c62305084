import type { AgentErrorKind, AgentEvent, AgentProvider } from "../../agents/contract.ts";
import {
  AgentAuthenticationError,
  AgentContextLengthError,
  AgentFailedError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  AgentUnavailableError,
  type IdleTimeoutError,
  ModelUnreachableError,
  type SandduneError,
} from "../../errors.ts";
import { COMMAND_NOT_FOUND } from "./agentCommand.ts";

/** How the agent's process ended. */
export interface AgentExit {
  /** `undefined` if the agent was stopped after it had reported the end of its turn. */
  readonly exitCode: number | undefined;
  readonly stderr: string;
  /** The name of the program that was started. */
  readonly program: string;
}

const ERRORS: Readonly<
  Record<Exclude<AgentErrorKind, "rateLimit" | "authentication" | "unreachable">, typeof AgentFailedError>
> = {
  overloaded: AgentOverloadedError,
  contextLength: AgentContextLengthError,
  unavailable: AgentUnavailableError,
  other: AgentFailedError,
};

/** Decides from its events whether the agent's turn succeeded. The exit code alone proves neither. */
export class AgentVerdict {
  #result: Extract<AgentEvent, { type: "result" }> | undefined;
  /** The last error that the agent has not recovered from. */
  #error: Extract<AgentEvent, { type: "error" }> | undefined;
  #hasSpoken = false;
  /** The agent has continued after it reported the end of its turn. */
  #hasContinued = false;

  /** `sandbox` is the name of the sandbox provider. */
  constructor(private readonly sandbox: string) {}

  push(event: AgentEvent): void {
    switch (event.type) {
      case "result":
        this.#result = event;
        this.#hasContinued = false;
        break;
      case "error":
        this.#error = event;
        break;
      case "turnStart":
        this.#hasContinued = this.#result !== undefined;
        this.#error = undefined;
        break;
      case "text":
      case "toolCall":
        this.#hasSpoken = true;
        this.#hasContinued = this.#result !== undefined;
        this.#error = undefined;
        break;
    }
  }

  #typed(
    agent: AgentProvider,
    problem: string,
    exitCode: number | undefined,
    stderr: string,
  ): AgentFailedError {
    const error = this.#error;
    if (error?.kind === "rateLimit") {
      return new AgentRateLimitError(agent.name, problem, exitCode, stderr, error.retryAt);
    }
    if (error?.kind === "authentication") {
      const { credentials } = agent.installation ?? {};
      return new AgentAuthenticationError(agent.name, problem, exitCode, stderr, credentials);
    }
    if (error?.kind === "unreachable") {
      return new ModelUnreachableError(agent.name, problem, exitCode, stderr, this.sandbox);
    }
    return new ERRORS[error?.kind ?? "other"](agent.name, problem, exitCode, stderr);
  }

  #failure(agent: AgentProvider, { exitCode, stderr }: AgentExit, otherwise: string): AgentFailedError {
    const problem = this.#result?.message || this.#error?.message || otherwise;
    return this.#typed(agent, problem, exitCode, stderr);
  }

  /** The failure of an agent that stopped printing: its last error, if it had not recovered from it. */
  failureOfSilence(agent: AgentProvider, silence: IdleTimeoutError): SandduneError {
    if (this.#error === undefined) return silence;
    const problem = `${this.#error.message} (it printed nothing for ${silence.idleTimeoutSeconds} s after that)`;
    return this.#typed(agent, problem, undefined, "");
  }

  /** The failure of an agent that could not reach its model. */
  failureOfReach(agent: AgentProvider, problem: string): SandduneError {
    return this.#typed(agent, problem, undefined, "");
  }

  /** The failure of the agent; `undefined` if it succeeded. */
  failureOf(agent: AgentProvider, exit: AgentExit): SandduneError | undefined {
    const { exitCode, stderr } = exit;
    if (this.#result !== undefined) {
      if (this.#result.isError) return this.#failure(agent, exit, "it reported an error");
      const endedWell = exitCode === 0 && agent.reportsResult !== true;
      if (!this.#hasContinued || exitCode === undefined || endedWell) return undefined;
      return this.#failure(agent, exit, `it continued after its turn, and ended with exit code ${exitCode}`);
    }
    if (exitCode === COMMAND_NOT_FOUND && !this.#hasSpoken && /not found/i.test(stderr)) {
      return new AgentNotFoundError(agent.name, exit.program, this.sandbox, agent.installation?.dockerfile);
    }
    if (exitCode !== 0) return this.#failure(agent, exit, `it ended with exit code ${exitCode}`);
    if (agent.reportsResult !== true) return undefined;
    return this.#failure(agent, exit, "it ended without reporting the end of its turn");
  }
}
