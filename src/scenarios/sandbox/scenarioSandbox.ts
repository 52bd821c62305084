import type { SandboxHandle } from "../../sandboxes/contract.ts";
import type { Workplace } from "./commandRunner.ts";

/** Where an agent works on the project. It sees nothing of the suite. */
export interface AgentWorkplace {
  readonly handle: SandboxHandle;
  /** The project, as the agent sees it. */
  readonly projectRoot: string;
  /** Ends the agent and all that it has left running. Idempotent. */
  close(): Promise<void>;
}

/**
 * The places that one execution of a scenario needs, one after the other, over one project directory of the host.
 * When a place is closed, the directory holds what was done there, and nothing runs there any more.
 */
export interface Workshop {
  /** The sandbox provider's name; `null` for the host itself. */
  readonly sandbox: string | null;
  /** The project, as commands see it. */
  readonly projectRoot: string;
  /** For commands of the suite's: it sees the suite, read-only, with a home of its own that no agent has touched. */
  openForCommands(signal: AbortSignal): Promise<Workplace>;
  openForAgent(signal: AbortSignal): Promise<AgentWorkplace>;
}
