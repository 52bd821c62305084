import type { SandboxHandle } from "../../sandboxes/contract.ts";
import type { OwnedDirectory } from "../../sandboxes/directories/ownedDirectory.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import type { CommandRunner } from "./commandRunner.ts";

/** The project, as a sandbox sees it. */
export const PROJECT_IN_SANDBOX = "/sanddune/project";

/** Where an agent works on the project. The suite is not visible in it. */
export interface AgentSandbox {
  readonly handle: SandboxHandle;
  /** The project, as the agent sees it. */
  readonly projectRoot: string;
  /** Ends the agent and every process that it started. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the sandboxes of one execution, one after the other, over one project directory on the host. Once a sandbox is
 * closed, the directory contains its changes and no process of the sandbox is running.
 */
export interface ScenarioSandbox {
  /** The sandbox provider's name; `null` for the host itself. */
  readonly name: string | null;
  /** The project, as commands see it. */
  readonly projectRoot: string;
  /** For the suite's commands: they see the suite, read-only, and a home directory that no agent has touched. */
  openForCommands(signal: AbortSignal): Promise<CommandRunner>;
  openForAgent(signal: AbortSignal): Promise<AgentSandbox>;
}

export interface ScenarioSandboxOptions {
  readonly suite: ScenarioSuite;
  /** The project on the host. */
  readonly projectPath: string;
  /** Holds temporary files, and notes which sandboxes exist. */
  readonly runner: Pick<OwnedDirectory, "path" | "runId" | "noteSandbox">;
}
