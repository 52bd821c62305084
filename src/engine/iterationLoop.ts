import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentProvider, AgentStreamEvent } from "../agents/contract.ts";
import { IdleTimeoutError, type SandduneError } from "../errors.ts";
import type { IterationResult, IterationUsage } from "../results.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { addUsage } from "../usage.ts";
import { withAftermath } from "./aftermath.ts";
import { type AgentInvocation, AgentInvoker } from "./agentInvoker.ts";
import { CompletionSignalMatcher } from "./completionSignal.ts";

/** How an iteration ended. */
export interface IterationEnd {
  readonly iteration: number;
  readonly result: IterationResult;
  readonly failed: boolean;
  /** No other iteration follows. */
  readonly isLast: boolean;
}

export interface IterationLoop {
  readonly agent: AgentProvider;
  readonly sandbox: SandboxHandle;
  readonly cwd: string;
  /** Begins an iteration: makes the prompt that the agent gets in it. */
  readonly beginIteration: (iteration: number) => Effect.Effect<string, SandduneError>;
  readonly maxIterations: number;
  readonly completionSignals: readonly string[];
  readonly idleTimeoutMs: number;
  readonly completionTimeoutMs: number;
  readonly onEvent: (event: AgentStreamEvent) => void;
  /** Each line as the agent printed it. */
  readonly onRawLine?: AgentInvocation["onRawLine"];
  readonly redactCaptured: AgentInvocation["redactCaptured"];
  readonly onWarning: (sentence: string) => void;
  /** Runs after every iteration, however it ended: what the agent committed is brought home before anything else. */
  readonly afterIteration: (end: IterationEnd) => Effect.Effect<void, SandduneError>;
}

/** Fails once nothing has been heard of the agent for the whole idle timeout. */
const watchIdle = Effect.fnUntraced(function* (
  loop: IterationLoop,
  now: () => number,
  lastActivity: () => number,
): Effect.fn.Return<never, IdleTimeoutError> {
  for (;;) {
    const silentMs = () => now() - lastActivity();
    yield* Effect.sleep(Math.max(0, loop.idleTimeoutMs - silentMs()));
    // This process may have been held up itself, by a paused terminal for one: first it reads what has arrived.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    if (silentMs() >= loop.idleTimeoutMs) {
      return yield* Effect.fail(new IdleTimeoutError(loop.agent.name, loop.idleTimeoutMs / 1000));
    }
  }
});

/**
 * One invocation of the agent. It is over when the agent's process is; or, when the agent has said that its turn is
 * over but something it left behind keeps the process alive, a grace period after that.
 */
const runIteration = Effect.fnUntraced(function* (
  loop: IterationLoop,
  iteration: number,
  matcher: CompletionSignalMatcher,
  result: { sessionId?: string; usage?: IterationUsage },
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const prompt = yield* loop.beginIteration(iteration);
  const invoker = yield* AgentInvoker;
  const clock = yield* Clock.Clock;
  const turnEnded = yield* Deferred.make<Extract<AgentEvent, { type: "result" }>>();
  const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n);
  let lastActivity = now();
  const onActivity = () => {
    lastActivity = now();
  };
  const onEvent = (event: AgentEvent) => {
    onActivity();
    if (event.type === "text") matcher.push(event.text);
    if (event.type === "sessionId") result.sessionId = event.sessionId;
    if (event.type === "usage") result.usage = addUsage(result.usage, event.usage);
    if (event.type === "result" && !event.isError) Deferred.doneUnsafe(turnEnded, Effect.succeed(event));
    loop.onEvent({ iteration, timestamp: new Date(), ...event });
  };
  const invocation = invoker.invoke({
    agent: loop.agent,
    prompt,
    iteration,
    sandbox: loop.sandbox,
    cwd: loop.cwd,
    onEvent,
    ...(loop.onRawLine && { onRawLine: loop.onRawLine }),
    redactCaptured: loop.redactCaptured,
    onActivity,
  });
  const lingering = Deferred.await(turnEnded).pipe(Effect.andThen(Effect.sleep(loop.completionTimeoutMs)));
  yield* invocation.pipe(
    Effect.raceFirst(watchIdle(loop, now, () => lastActivity)),
    Effect.raceFirst(lingering),
  );
});

/**
 * Invokes the agent until it prints a completion signal, at most `maxIterations` times. Resolves with the signal that
 * was printed. An agent is never cut off because of the signal: it may be quoting it, and still be at work.
 */
export const runIterations = Effect.fnUntraced(function* (
  loop: IterationLoop,
): Effect.fn.Return<string | undefined, SandduneError, AgentInvoker> {
  for (let iteration = 1; iteration <= loop.maxIterations; iteration++) {
    const matcher = new CompletionSignalMatcher(loop.completionSignals);
    const result: { sessionId?: string; usage?: IterationUsage } = {};
    yield* withAftermath(runIteration(loop, iteration, matcher, result), {
      onFailure: () => loop.afterIteration({ iteration, result, failed: true, isLast: true }),
      onSuccess: () => {
        const isLast = matcher.matched !== undefined || iteration === loop.maxIterations;
        return loop.afterIteration({ iteration, result, failed: false, isLast });
      },
      warn: loop.onWarning,
    });
    if (matcher.matched !== undefined) return matcher.matched;
  }
  return undefined;
});
