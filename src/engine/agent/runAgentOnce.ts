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

/** One prompt for an agent, and the sandbox to work in. */
export interface AgentTask {
  readonly agent: AgentProvider;
  /** The caller closes it. */
  readonly sandbox: SandboxHandle;
  /** The name of the sandbox provider. */
  readonly sandboxName: string | undefined;
  /** The directory in the sandbox where the agent starts. It need not be a repository. */
  readonly cwd: string;
  readonly env: ResolvedEnv;
  readonly prompt: string;
  /** The time limit of the whole call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each event of the agent, redacted. */
  readonly onEvent: (event: AgentStreamEvent) => void;
}

/** How an agent ended that did not fail. */
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
 * Invokes an agent once, in an existing sandbox. Rejects with the errors of a run, redacted, or with `signal.reason`.
 * When this settles, a stopped agent has been killed with all its descendants. Processes that an agent left running
 * when it exited end with the sandbox.
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
