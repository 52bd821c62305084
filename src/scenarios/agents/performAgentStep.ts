import { runAgentOnce } from "../../engine/agent/runAgentOnce.ts";
import { AgentFailedError, AgentNotFoundError, SandboxLostError } from "../../errors.ts";
import type { StepRecord } from "../records/record.ts";
import {
  EXIT_KILLED,
  EXIT_NOT_FOUND,
  EXIT_TIMEOUT,
  type ScenarioCommandResult,
} from "../sandbox/commandRunner.ts";
import { ProjectRefusedError } from "../sandbox/projectRefused.ts";
import type { AgentSandbox, ScenarioSandbox } from "../sandbox/scenarioSandbox.ts";
import type { AgentStep } from "../spec.ts";
import type { ReadyAgent } from "./agentSetup.ts";
import { AgentWork } from "./agentWork.ts";
import { type PromptContext, promptFor } from "./prompts.ts";
import { unavailability } from "./unavailability.ts";

export interface AgentStepContext extends PromptContext {
  readonly setup: ReadyAgent;
  readonly scenarioSandbox: ScenarioSandbox;
  readonly signal: AbortSignal;
}

/** The result of an agent's step; the agent's text is its `stdout`. */
export interface AgentStepResult extends ScenarioCommandResult, Pick<StepRecord, "tool_edits" | "usage"> {
  readonly hasCalledTool: boolean;
  /** Why the agent is unavailable, and what to do about it. The agent itself may report this. */
  readonly unavailable?: string;
  /** The project cannot be copied out of the sandbox: the step has failed, even with `allow_nonzero`. */
  readonly isRefused?: boolean;
}

const EXIT_FAILED = 1;

const ask = async (
  step: AgentStep,
  setup: ReadyAgent,
  { handle, projectRoot }: AgentSandbox,
  context: AgentStepContext,
): Promise<AgentStepResult> => {
  const work = new AgentWork();
  const timeoutMs = step.timeout_ms ?? setup.timeoutMs;
  const result = (code: number, stderr: string): AgentStepResult => ({
    code,
    stdout: work.text,
    stderr,
    hasCalledTool: work.hasCalledTool,
    ...work.record,
  });
  try {
    const end = await runAgentOnce({
      agent: setup.agentFor(step),
      sandbox: handle,
      sandboxName: context.scenarioSandbox.name ?? undefined,
      cwd: projectRoot,
      env: setup.env,
      prompt: promptFor(step, context),
      timeoutMs,
      signal: context.signal,
      onEvent: (event) => work.push(event),
    });
    return end === "done"
      ? result(0, "")
      : result(EXIT_TIMEOUT, `The agent was stopped: it took longer than ${timeoutMs} ms.`);
  } catch (error) {
    const unavailable = unavailability(error, context.scenarioSandbox.name === null);
    if (error instanceof AgentNotFoundError && unavailable !== undefined)
      return { ...result(EXIT_NOT_FOUND, unavailable), unavailable };
    if (error instanceof SandboxLostError && error.isByCommands) return result(EXIT_KILLED, error.message);
    // Other errors of the sandbox are not the agent's.
    if (!(error instanceof AgentFailedError)) throw error;
    return {
      ...result(error.exitCode || EXIT_FAILED, unavailable ?? error.message),
      ...(unavailable !== undefined && { unavailable }),
    };
  }
};

/**
 * Lets the agent perform a step in a sandbox of its own over the project. When this settles, no process of the agent
 * is running. Rejects if the sandbox is lost, or with `signal.reason`.
 */
export const performAgentStep = async (
  step: AgentStep,
  context: AgentStepContext,
): Promise<AgentStepResult> => {
  const { setup, scenarioSandbox, signal } = context;
  const sandbox = await scenarioSandbox.openForAgent(signal);
  let result: AgentStepResult;
  try {
    result = await ask(step, setup, sandbox, context);
  } catch (error) {
    await sandbox.close().catch(() => {});
    throw error;
  }
  try {
    await sandbox.close();
    return result;
  } catch (error) {
    // An agent must not avoid its grade by leaving files that cannot be copied.
    if (!(error instanceof ProjectRefusedError)) throw error;
    return { ...result, code: result.code || EXIT_FAILED, stderr: error.message, isRefused: true };
  }
};
