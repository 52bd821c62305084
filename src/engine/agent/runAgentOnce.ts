import * as Effect from "effect/Effect";
import type { AgentProvider, AgentStreamEvent } from "../../agents/contract.ts";
import { runAtBoundary } from "../../boundary/boundary.ts";
import type { ResolvedEnv } from "../../envVars/envValues.ts";
import { agentSettings } from "../../options/agentSettings.ts";
import { redactData } from "../../redaction/redactData.ts";
import { EventRedactor } from "../../redaction/redactEvents.ts";
import { Redactor } from "../../redaction/redactor.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { type IterationLoop, runIterations } from "../iterations/iterationLoop.ts";
import { AgentInvoker, liveAgentInvoker } from "./agentInvoker.ts";

/** One prompt for an agent, and where it is to be worked on. */
export interface AgentTask {
  readonly agent: AgentProvider;
  /** Somebody else's, who closes it. */
  readonly sandbox: SandboxHandle;
  /** The sandbox provider's. */
  readonly sandboxName: string | undefined;
  /** Where the agent starts, in the sandbox. It need not be a repository. */
  readonly cwd: string;
  readonly env: ResolvedEnv;
  readonly prompt: string;
  /** How long the agent may take, in all. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Gets what the agent says and does, redacted. */
  readonly onEvent: (event: AgentStreamEvent) => void;
}

/** How an agent that did not fail has ended. */
export type AgentEnd = "done" | "tookTooLong";

const loopOf = (question: AgentTask): IterationLoop => {
  const { agent, sandbox, sandboxName, cwd, env, prompt, timeoutMs, onEvent } = question;
  const redactor = new Redactor(env.secrets);
  const events = new EventRedactor(redactor, onEvent);
  return {
    // The limit of the whole call ends a silent agent, not the idle timeout.
    options: agentSettings({ agent, completionSignal: [], idleTimeoutSeconds: (timeoutMs * 2) / 1000 }),
    ...{ sandbox, sandboxName, cwd, env: env.values },
    beginIteration: () => Effect.succeed(prompt),
    onEvent: (event) => events.push(event),
    onLine: () => {},
    redactCaptured: (text, captureBytes) => redactor.capturedEnd(text, captureBytes),
    onWait: () => () => {},
    onWarning: () => {},
    afterIteration: () => Effect.sync(() => events.flush()),
  };
};

/**
 * Invokes an agent once, in a sandbox that is there already. Rejects with the errors of a run, redacted, or with
 * `signal.reason`. An agent that is stopped is gone with all its descendants when this settles; what one has left
 * running that ended by itself ends with the sandbox.
 */
export const runAgentOnce = (question: AgentTask): Promise<AgentEnd> => {
  const { env, timeoutMs, signal } = question;
  const asked = runIterations(loopOf(question)).pipe(
    Effect.provideService(AgentInvoker, liveAgentInvoker),
    Effect.mapError((error) => redactData(new Redactor(env.secrets), error)),
    Effect.as<AgentEnd>("done"),
  );
  const limit = Effect.sleep(timeoutMs).pipe(Effect.as<AgentEnd>("tookTooLong"));
  return runAtBoundary(Effect.raceFirst(asked, limit), signal);
};
