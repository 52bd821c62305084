import type * as Effect from "effect/Effect";
import type { McpServers } from "../../agents/contract.ts";
import type { TestResults } from "../../environment/contract.ts";
import type { SandduneError } from "../../errors.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import type { Session } from "../session/session.ts";
import type { EnvironmentFiles } from "./environmentFiles.ts";
import type { EnvironmentSource } from "./findEnvironment.ts";
import type { EnvironmentPlan } from "./planEnvironment.ts";

/** How an agent reaches the tests. */
export interface TestAccess {
  /** For agents that can be given tools. */
  readonly mcpServers: McpServers;
  /** For all others: the address and the token. */
  readonly env: Readonly<Record<string, string>>;
}

/** Tests that are ready to be run, by the agent and by the engine. */
export interface LiveEnvironment {
  readonly access: TestAccess;
  /** Where its files are from. */
  readonly source: EnvironmentSource;
  /** Makes as much ready for the next evaluation as may be while an agent works. */
  readonly prepare: Effect.Effect<void>;
  /** Runs all tests on a commit that the host has, out of the agent's reach. */
  readonly evaluate: (commit: string) => Effect.Effect<TestResults, SandduneError>;
}

/** What an environment is opened with. */
export interface EnvironmentSetup {
  readonly session: Session;
  /** The agent's. */
  readonly sandbox: SandboxSession;
  /** Where the package for the agent's sandbox is, in there. */
  readonly packagePath: string;
  readonly files: EnvironmentFiles;
  readonly plan: EnvironmentPlan;
  /** How the agent's sandbox was made: those for tests are made in the same way. */
  readonly sandboxPlan: SandboxPlan<SandboxProvider>;
}
