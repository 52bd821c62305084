import * as Effect from "effect/Effect";
import { AgentInvoker, liveAgentInvoker } from "./engine/agentInvoker.ts";
import { runAtBoundary } from "./engine/boundary.ts";
import { planRun } from "./engine/planRun.ts";
import { runSession } from "./engine/runSession.ts";
import type { RunResult } from "./results.ts";
import type { RunOptions } from "./runOptions.ts";
import type { SandboxProvider } from "./sandboxes/contract.ts";

/**
 * Runs an agent on a prompt in a sandbox, and resolves with the commits it made on a branch.
 *
 * @example
 * const { commits, branch } = await run({
 *   agent: command("sh ./agent.sh"),
 *   sandbox: docker(),
 *   branchStrategy: { type: "branch", branch: "agent/fix-42" },
 *   prompt: "Fix issue 42",
 * });
 */
export const run = <Sandbox extends SandboxProvider, Value = undefined>(
  options: RunOptions<Sandbox, Value>,
): Promise<RunResult<Value>> =>
  runAtBoundary(
    planRun(options as RunOptions).pipe(
      Effect.flatMap(runSession),
      // Checked by the schema that `Value` comes from.
      Effect.map((result) => result as RunResult<Value>),
      Effect.provideService(AgentInvoker, liveAgentInvoker),
    ),
    options?.signal,
  );
