import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentStreamEvent, McpServers, ResumedSession } from "../../agents/contract.ts";
import { AgentRateLimitError, type BudgetExceededError, type SandduneError } from "../../errors.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import type { IterationResult, IterationUsage } from "../../options/results.ts";
import { addUsage } from "../../options/usage.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { TurnTime } from "../../tools/wait/turnTime.ts";
import type { AgentInvocation, AgentInvoker } from "../agent/agentInvoker.ts";
import { invokeAgent } from "../agent/invokeAgent.ts";
import { withFinalStep } from "../session/finalStep.ts";
import { Budget } from "./budget.ts";
import { CompletionSignalMatcher } from "./completionSignal.ts";
import { RateLimitWaits } from "./rateLimit.ts";

/** How an iteration ended. */
export interface IterationEnd {
  readonly iteration: number;
  readonly result: IterationResult;
  readonly failed: boolean;
  /** No iteration follows. */
  readonly isLast: boolean;
}

export interface IterationLoop {
  readonly options: AgentSettings;
  readonly sandbox: SandboxHandle;
  /** The name of the sandbox provider, for messages; if it is unknown, the name of the sandbox is used. */
  readonly sandboxName?: string | undefined;
  readonly cwd: string;
  /** The env vars of the session. */
  readonly env: Readonly<Record<string, string>>;
  /** Begins an iteration and returns its prompt: the correction, or else the expanded prompt. */
  readonly beginIteration: (
    iteration: number,
    correction: string | undefined,
  ) => Effect.Effect<string, SandduneError>;
  /** The session that the first iteration resumes. */
  readonly resume?: ResumedSession | undefined;
  readonly mcpServers?: McpServers | undefined;
  readonly onEvent: (event: AgentStreamEvent) => void;
  /** Called with each line of the agent's raw output. */
  readonly onLine: AgentInvocation["onLine"];
  readonly redactCaptured: AgentInvocation["redactCaptured"];
  /** Called when the agent has to wait. The returned function is called when it continues. */
  readonly onWait: (until: Date) => () => void;
  readonly onWarning: (sentence: string) => void;
  /** Runs in parallel with the agent, and is interrupted when the agent ends. */
  readonly whileWorking?: Effect.Effect<never> | undefined;
  /** Tests the commits of each iteration. Without it, the agent itself decides when it is done. */
  readonly tests?: TestGate | undefined;
  /** Asks the agent, in the same session, to correct wrong structured output at the end. */
  readonly correction?: Effect.Effect<string | undefined>;
  /** Runs after every iteration, also a failed one: captures its session and imports its commits. */
  readonly afterIteration: (end: IterationEnd) => Effect.Effect<void, SandduneError>;
}

/** Tests the commits of an iteration. */
export interface TestGate {
  /** Called before the agent is invoked: starts whatever can be prepared while the agent works. */
  readonly prepare: Effect.Effect<void>;
  /** Succeeds with whether all tests pass. */
  readonly run: (iteration: number) => Effect.Effect<boolean, SandduneError>;
  /** Whether the loop ends when the tests pass, whatever the agent says. */
  readonly decides: boolean;
}

/** How an iteration begins: with the prompt, or with a correction of the previous structured output. */
interface Beginning {
  readonly correction?: string;
  readonly resume: ResumedSession | undefined;
}

/** The prompt for an agent that continues after a rate limit. */
const CONTINUE_PROMPT = "A rate limit interrupted you. Continue where you stopped.";

/** The state of a running iteration. */
class IterationState {
  sessionId: string | undefined;
  usage: IterationUsage | undefined;
  exceeded: BudgetExceededError | undefined;
  /** All tests passed. */
  passes = false;

  get result(): IterationResult {
    return {
      ...(this.sessionId !== undefined && { sessionId: this.sessionId }),
      ...(this.usage && { usage: this.usage }),
    };
  }
}

/** The session to continue with; `undefined` if the agent has to start a new one. */
const sessionToContinue = (
  loop: IterationLoop,
  { sessionId, usage }: IterationState,
  begunWith: ResumedSession | undefined,
): ResumedSession | undefined => {
  if (sessionId === undefined || loop.options.agent.sessions === undefined) return undefined;
  const used = usage === undefined ? begunWith?.usedBefore : addUsage(begunWith?.usedBefore, usage);
  return { sessionId, isFork: false, ...(used && { usedBefore: used }) };
};

/** Waits for a rate limit to end. Fails with the error if that would take too long. */
const waitOut = Effect.fnUntraced(function* (
  loop: IterationLoop,
  rateLimits: RateLimitWaits,
  error: AgentRateLimitError,
): Effect.fn.Return<void, AgentRateLimitError> {
  const now = (yield* Clock.Clock).currentTimeMillisUnsafe();
  const waitMs = rateLimits.nextWaitMs(error, now);
  if (waitMs === undefined) return yield* Effect.fail(error);
  yield* Effect.acquireUseRelease(
    Effect.sync(() => loop.onWait(new Date(now + waitMs))),
    () => Effect.sleep(waitMs),
    (end) => Effect.sync(end),
  );
});

const runIteration = Effect.fnUntraced(function* (
  loop: IterationLoop,
  iteration: number,
  { budget, rateLimits }: { readonly budget: Budget; readonly rateLimits: RateLimitWaits },
  state: IterationState,
  matcher: CompletionSignalMatcher,
  { correction, resume: begunWith }: Beginning,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { mcpServers } = loop;
  let prompt = yield* loop.beginIteration(iteration, correction);
  if (loop.tests !== undefined) yield* loop.tests.prepare;
  let resume = begunWith;
  const time = new TurnTime();
  const onEvent = (event: AgentEvent) => {
    if (event.type === "text") matcher.push(event.text);
    if (event.type === "sessionId") state.sessionId = event.sessionId;
    if (event.type === "usage") state.usage = addUsage(state.usage, event.usage);
    loop.onEvent({ iteration, timestamp: time.now(), ...event });
  };
  const spend = (event: AgentEvent) => {
    if (event.type === "usage") state.exceeded ??= budget.spend(event.usage);
    return state.exceeded;
  };
  for (;;) {
    const limited = yield* invokeAgent(loop, {
      iteration: { prompt, iteration, ...(resume && { resume }), ...(mcpServers && { mcpServers }) },
      onEvent,
      spend,
      hasSaidSignal: () => matcher.matched !== undefined,
    }).pipe(
      Effect.as(undefined),
      Effect.catchIf(
        (error) => error instanceof AgentRateLimitError,
        (error) => Effect.succeed(error),
      ),
    );
    if (limited === undefined) return;
    if (state.exceeded !== undefined) return yield* Effect.fail(state.exceeded);
    yield* waitOut(loop, rateLimits, limited);
    const session = sessionToContinue(loop, state, begunWith);
    if (session === undefined) continue;
    resume = session;
    prompt = CONTINUE_PROMPT;
  }
});

/**
 * Invokes the agent until it prints a completion signal or, if tests decide, until they pass; at most `maxIterations`
 * times. Succeeds with the last signal. A signal never stops the agent: it may be a quotation in the middle of its
 * work.
 */
export const runIterations = Effect.fnUntraced(function* (
  loop: IterationLoop,
): Effect.fn.Return<string | undefined, SandduneError, AgentInvoker> {
  const { options } = loop;
  const limits = { budget: new Budget(options), rateLimits: new RateLimitWaits(options.onRateLimit) };
  let signal: string | undefined;
  let beginning: Beginning | undefined = { resume: loop.resume };
  for (let iteration = 1; beginning !== undefined; iteration++) {
    const begun: Beginning = beginning;
    const matcher = new CompletionSignalMatcher([options.completionSignal].flat());
    const state = new IterationState();
    const isDone = () => (loop.tests?.decides ? state.passes : matcher.matched !== undefined);
    // A correction is always the last iteration.
    const isOver = () => isDone() || begun.correction !== undefined || iteration >= options.maxIterations;
    let next: Beginning | undefined;
    /** Asks for a correction if the structured output is wrong and the session can continue. */
    const askForCorrection = Effect.suspend(() => {
      const resume = sessionToContinue(loop, state, begun.resume);
      if (loop.correction === undefined || resume === undefined || state.exceeded !== undefined)
        return Effect.void;
      return Effect.map(loop.correction, (correction) => {
        if (correction !== undefined) next = { correction, resume };
      });
    });
    const working = runIteration(loop, iteration, limits, state, matcher, begun).pipe(
      Effect.andThen(Effect.suspend(() => (isOver() ? askForCorrection : Effect.void))),
    );
    yield* withFinalStep(working, {
      onFailure: () => loop.afterIteration({ iteration, result: state.result, failed: true, isLast: true }),
      onSuccess: () => {
        const isLast = (isOver() && next === undefined) || state.exceeded !== undefined;
        return loop.afterIteration({ iteration, result: state.result, failed: false, isLast });
      },
      warn: loop.onWarning,
    });
    const wasOver = isOver();
    if (loop.tests !== undefined) state.passes = yield* loop.tests.run(iteration);
    signal = matcher.matched ?? (begun.correction === undefined ? undefined : signal);
    // Only the tests showed that the work is done.
    if (isOver() && !wasOver) yield* askForCorrection;
    if (!isOver() && state.exceeded !== undefined) return yield* Effect.fail(state.exceeded);
    beginning = isOver() ? next : { resume: undefined };
  }
  return signal;
});
