import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { SandboxRunResult } from "../../options/results.ts";
import { AgentInvoker, liveAgentInvoker } from "../agent/agentInvoker.ts";

/** A run with the real agent. The schema of the output has checked that it is a `Value`. */
export const liveRun = <Value>(
  run: Effect.Effect<SandboxRunResult, SandduneError, AgentInvoker>,
): Effect.Effect<SandboxRunResult<Value>, SandduneError> =>
  run.pipe(
    Effect.provideService(AgentInvoker, liveAgentInvoker),
    Effect.map((result) => result as SandboxRunResult<Value>),
  );
