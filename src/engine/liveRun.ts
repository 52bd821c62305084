import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import type { RunResult } from "../results.ts";
import { AgentInvoker, liveAgentInvoker } from "./agentInvoker.ts";

/** A run with the real agent. `Value` is checked by the schema that it comes from. */
export const liveRun = <Value>(
  run: Effect.Effect<RunResult, SandduneError, AgentInvoker>,
): Effect.Effect<RunResult<Value>, SandduneError> =>
  run.pipe(
    Effect.provideService(AgentInvoker, liveAgentInvoker),
    Effect.map((result) => result as RunResult<Value>),
  );
