import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentIteration, AgentProvider } from "../../agents/contract.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { AgentFailedError, type SandduneError } from "../../errors.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { commandLineOf, programOf } from "./agentCommand.ts";
import type { AgentExit } from "./agentVerdict.ts";
import { checkedCommand, checkedEvents, checkedParser } from "./providerChecks.ts";

export interface AgentInvocation extends AgentIteration {
  readonly agent: AgentProvider;
  readonly sandbox: SandboxHandle;
  /** Where the agent starts, in the sandbox. */
  readonly cwd: string;
  /** The env vars of the session. They take precedence over those that the agent provider sets. */
  readonly env: Readonly<Record<string, string>>;
  readonly onEvent: (event: AgentEvent) => void;
  /** Called with each line of the agent's raw output, before its events. */
  readonly onLine: (line: string, stream: "stdout" | "stderr", events: readonly AgentEvent[]) => void;
  /** Redacts the end of the agent's stderr. A secret at the start of it may be incomplete. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
  /** Called whenever the agent prints anything. */
  readonly onActivity: () => void;
}

/**
 * Passes a resolved prompt to the agent, and succeeds with how its process ended. Interrupting it kills the agent.
 * Tests replace this service by a scripted fake.
 */
export class AgentInvoker extends Context.Service<
  AgentInvoker,
  { readonly invoke: (invocation: AgentInvocation) => Effect.Effect<AgentExit, SandduneError> }
>()("sanddune/AgentInvoker") {}

/** Enough of the agent's stderr to explain a failure. The events have everything else. */
const CAPTURE_BYTES = 64 * 1024;

const invoke = Effect.fnUntraced(function* (
  invocation: AgentInvocation,
): Effect.fn.Return<AgentExit, SandduneError> {
  const { agent, sandbox } = invocation;
  const providerFailed = (what: string, reason: unknown) =>
    new AgentFailedError(
      agent.name,
      `its agent provider failed while ${what}: ${messageOf(reason)}`,
      undefined,
      "",
    );
  const [command, parser] = yield* Effect.try({
    try: () =>
      [
        checkedCommand(agent.buildCommand(invocation)),
        checkedParser(agent.createParser(invocation)),
      ] as const,
    catch: (reason) => providerFailed("building the command", reason),
  });
  const parse = (line: string, stream: "stdout" | "stderr") => {
    try {
      return checkedEvents(parser(line, stream));
    } catch (reason) {
      throw providerFailed("reading the output", reason);
    }
  };
  const receive = (stream: "stdout" | "stderr") => (line: string) => {
    const events = parse(line, stream);
    invocation.onLine(line, stream, events);
    for (const event of events) invocation.onEvent(event);
  };
  const { exitCode, stderr } = yield* interruptible((signal) =>
    sandbox.exec(commandLineOf(command), {
      cwd: invocation.cwd,
      env: { ...command.env, ...invocation.env },
      stdin: command.stdin,
      signal,
      onLine: receive("stdout"),
      onStderrLine: receive("stderr"),
      onActivity: invocation.onActivity,
      captureBytes: CAPTURE_BYTES,
    }),
  );
  return {
    exitCode,
    stderr: invocation.redactCaptured(stderr, CAPTURE_BYTES),
    program: programOf(command),
  };
});

/** Runs the real agent in the sandbox. */
export const liveAgentInvoker: AgentInvoker["Service"] = { invoke };
