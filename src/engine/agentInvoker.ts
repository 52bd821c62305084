import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentProvider } from "../agents/contract.ts";
import { AgentFailedError, AgentNotFoundError, type SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { COMMAND_NOT_FOUND, commandLineOf, programOf } from "./agentCommand.ts";

export interface AgentInvocation {
  readonly agent: AgentProvider;
  readonly prompt: string;
  readonly iteration: number;
  readonly sandbox: SandboxHandle;
  /** Where the agent starts, in the sandbox. */
  readonly cwd: string;
  readonly onEvent: (event: AgentEvent) => void;
  /** Each line as the agent printed it, before the events that it means; not if they say the very same. */
  readonly onRawLine?: (line: string, stream: "stdout" | "stderr") => void;
  /** Takes secrets out of the agent's last words, which may have been cut off in the middle of one. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
  /** Called whenever the agent printed anything. */
  readonly onActivity: () => void;
}

/**
 * Hands a resolved prompt to the agent for one iteration; succeeds when the agent did. Interrupting it kills the
 * agent. The seam at which tests put a scripted fake.
 */
export class AgentInvoker extends Context.Service<
  AgentInvoker,
  { readonly invoke: (invocation: AgentInvocation) => Effect.Effect<void, SandduneError> }
>()("sanddune/AgentInvoker") {}

/** Enough of the agent's last words to explain a failure; everything else has gone through the events. */
const CAPTURE_BYTES = 64 * 1024;

const saysTheSame = (events: readonly AgentEvent[], line: string): boolean => {
  const [event, ...more] = events;
  if (event === undefined || more.length > 0) return false;
  return event.type === "raw" || (event.type === "text" && event.text === `${line}\n`);
};

const invoke = Effect.fnUntraced(function* (
  invocation: AgentInvocation,
): Effect.fn.Return<void, SandduneError> {
  const { agent, sandbox, onEvent } = invocation;
  const providerFailed = (what: string, reason: unknown) =>
    new AgentFailedError(
      agent.name,
      `its agent provider threw while ${what} (${String(reason)})`,
      undefined,
      "",
    );
  const { command, stdin } = yield* Effect.try({
    try: () => agent.buildCommand(invocation),
    catch: (reason) => providerFailed("building the command", reason),
  });
  let verdict: Extract<AgentEvent, { type: "result" }> | undefined;
  let hasSpoken = false;
  const parse = (line: string, stream: "stdout" | "stderr") => {
    try {
      return agent.parseLine(line, stream);
    } catch (reason) {
      throw providerFailed("reading the output", reason);
    }
  };
  const receive = (stream: "stdout" | "stderr") => (line: string) => {
    const events = parse(line, stream);
    if (!saysTheSame(events, line)) invocation.onRawLine?.(line, stream);
    for (const event of events) {
      if (event.type === "result") verdict = event;
      if (event.type === "text") hasSpoken = true;
      onEvent(event);
    }
  };
  const { exitCode, stderr: lastWords } = yield* interruptible(
    (signal) =>
      sandbox.exec(commandLineOf(command), {
        cwd: invocation.cwd,
        stdin,
        signal,
        onLine: receive("stdout"),
        onStderrLine: receive("stderr"),
        onActivity: invocation.onActivity,
        captureBytes: CAPTURE_BYTES,
      }),
    (reason) => reason as SandduneError,
  );
  const stderr = invocation.redactCaptured(lastWords, CAPTURE_BYTES);
  if (verdict !== undefined) {
    if (!verdict.isError) return;
    return yield* Effect.fail(
      new AgentFailedError(agent.name, verdict.message ?? "it reported an error", exitCode, stderr),
    );
  }
  if (exitCode === COMMAND_NOT_FOUND && !hasSpoken && /not found/i.test(stderr)) {
    return yield* Effect.fail(new AgentNotFoundError(agent.name, programOf(command), sandbox.name));
  }
  if (exitCode !== 0) {
    return yield* Effect.fail(
      new AgentFailedError(agent.name, `it ended with exit code ${exitCode}`, exitCode, stderr),
    );
  }
  if (agent.reportsResult) {
    return yield* Effect.fail(
      new AgentFailedError(agent.name, "it ended without saying that its turn was over", exitCode, stderr),
    );
  }
});

/** Runs the real agent in the sandbox. */
export const liveAgentInvoker: AgentInvoker["Service"] = { invoke };
