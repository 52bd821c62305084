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
  /** For agents that support MCP servers. */
  readonly mcpServers: McpServers;
  /** For all others: env vars with the address and the token. */
  readonly env: Readonly<Record<string, string>>;
}

/** An environment that is ready, for the agent and for the engine. */
export interface LiveEnvironment {
  readonly access: TestAccess;
  /** The source of its files. */
  readonly source: EnvironmentSource;
  /** Prepares the next evaluation as far as possible while an agent works. */
  readonly prepare: Effect.Effect<void>;
  /** Runs all tests on a commit of the host repository, out of the agent's reach. */
  readonly evaluate: (commit: string) => Effect.Effect<TestResults, SandduneError>;
}

/** The input for opening an environment. */
export interface EnvironmentSetup {
  readonly session: Session;
  /** The agent's sandbox. */
  readonly sandbox: SandboxSession;
  /** The path of the package in the agent's sandbox. */
  readonly packagePath: string;
  readonly files: EnvironmentFiles;
  readonly plan: EnvironmentPlan;
  /** How the agent's sandbox was created. Test sandboxes are created in the same way. */
  readonly sandboxPlan: SandboxPlan<SandboxProvider>;
}
