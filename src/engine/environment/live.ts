import type * as Effect from "effect/Effect";
import type { McpServers } from "../../agents/contract.ts";
import type { TestResults } from "../../environment/contract.ts";
import type { SandduneError } from "../../errors.ts";

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
  /** Whether it tests the files in the agent's sandbox, or a commit that the host has. */
  readonly tests: "files" | "commit";
  /** Runs all tests, out of the agent's reach as far as the isolation goes. */
  readonly evaluate: (commit: string) => Effect.Effect<TestResults, SandduneError>;
}
