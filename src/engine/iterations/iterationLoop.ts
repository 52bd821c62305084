import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentStreamEvent, McpServers, ResumedSession } from "../../agents/contract.ts";
import { AgentRateLimitError, type BudgetExceededError, type SandduneError } from "../../errors.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import type { IterationResult, IterationUsage } from "../../options/results.ts";
import { addUsage } from "../../options/usage.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
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
  /** No other iteration follows. */
  readonly isLast: boolean;
}

export interface IterationLoop {
  readonly options: AgentSettings;
  readonly sandbox: SandboxHandle;
  /** The sandbox provider's, as far as it is known: it tells people more than the name of one sandbox. */
  readonly sandboxName?: string | undefined;
  readonly cwd: string;
  /** The env vars of the session. */
  readonly env: Readonly<Record<string, string>>;
  /** Begins an iteration: makes the prompt that the agent gets in it, unless it is asked for a correction. */
  readonly beginIteration: (
    iteration: number,
    correction: string | undefined,
  ) => Effect.Effect<string, SandduneError>;
  /** The session that the first iteration goes on with. */
  readonly resume?: ResumedSession | undefined;
  readonly mcpServers?: McpServers | undefined;
  readonly onEvent: (event: AgentStreamEvent) => void;
  /** Each line as the agent printed it. */
  readonly onLine: AgentInvocation["onLine"];
  readonly redactCaptured: AgentInvocation["redactCaptured"];
  /** The agent has to wait; the result is called when it goes on. */
  readonly onWait: (until: Date) => () => void;
  readonly onWarning: (sentence: string) => void;
  /** Runs beside the agent, and is interrupted when that has ended. */
  readonly whileWorking?: Effect.Effect<never> | undefined;
  /** Tests what an iteration has done; without it, the agent itself decides when it is done. */
  readonly tests?: TestGate | undefined;
  /** What the agent is to be told, in the same session, if its answer has to be corrected when everything else is done. */
  readonly correction?: Effect.Effect<string | undefined>;
  /** Runs after every iteration, however it ended: its session is captured, and what the agent committed brought home. */
  readonly afterIteration: (end: IterationEnd) => Effect.Effect<void, SandduneError>;
}

/** Tests of the commits that an iteration has made. */
export interface TestGate {
  /** Called before the agent is invoked: starts whatever can be prepared while the agent works. */
  readonly prepare: Effect.Effect<void>;
  /** Succeeds with whether all tests pass. */
  readonly run: (iteration: number) => Effect.Effect<boolean, SandduneError>;
  /** Whether the loop ends when the tests pass, whatever the agent says. */
  readonly decides: boolean;
}

/** What a run may use in all its iterations together. */
interface RunLimits {
  readonly budget: Budget;
  readonly rateLimits: RateLimitWaits;
}

/** How an iteration begins: with the prompt or, after another one, with what is wrong with its answer. */
interface Beginning {
  readonly correction?: string;
  readonly resume: ResumedSession | undefined;
}

/** What an agent is told that goes on after it was held up. */
const GO_ON = "A rate limit had interrupted you. Go on where you were.";

/** What is known of an iteration while it goes on. */
class IterationState {
  sessionId: string | undefined;
  usage: IterationUsage | undefined;
  exceeded: BudgetExceededError | undefined;
  /** All tests have passed. */
  passes = false;

  /** What is known of it when it is over. */
  get result(): IterationResult {
    return {
      ...(this.sessionId !== undefined && { sessionId: this.sessionId }),
      ...(this.usage && { usage: this.usage }),
    };
  }
}

/** With which session the agent goes on after it was held up; `undefined` if it has to begin anew. */
const sessionToGoOn = (
  loop: IterationLoop,
  { sessionId, usage }: IterationState,
  begunWith: ResumedSession | undefined,
): ResumedSession | undefined => {
  if (sessionId === undefined || loop.options.agent.sessions === undefined) return undefined;
  const used = usage === undefined ? begunWith?.usedBefore : addUsage(begunWith?.usedBefore, usage);
  return { sessionId, isFork: false, ...(used && { usedBefore: used }) };
};

/** Waits for a rate limit to end; fails with it where that would be too long. */
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
  { budget, rateLimits }: RunLimits,
  state: IterationState,
  matcher: CompletionSignalMatcher,
  { correction, resume: begunWith }: Beginning,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { mcpServers } = loop;
  let prompt = yield* loop.beginIteration(iteration, correction);
  if (loop.tests !== undefined) yield* loop.tests.prepare;
  let resume = begunWith;
  const onEvent = (event: AgentEvent) => {
    if (event.type === "text") matcher.push(event.text);
    if (event.type === "sessionId") state.sessionId = event.sessionId;
    if (event.type === "usage") state.usage = addUsage(state.usage, event.usage);
    loop.onEvent({ iteration, timestamp: new Date(), ...event });
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
    const session = sessionToGoOn(loop, state, begunWith);
    if (session === undefined) continue;
    resume = session;
    prompt = GO_ON;
  }
});

/**
 * Invokes the agent until it prints a completion signal or, if tests decide, until they pass; at most `maxIterations` times.
 * Resolves with the signal that was printed last. An agent is never cut off because of the signal: it may be quoting it, and
 * still be at work.
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
    // An agent that corrects its answer has nothing else to do.
    const isOver = () => isDone() || begun.correction !== undefined || iteration >= options.maxIterations;
    let next: Beginning | undefined;
    /** Whether the agent has to correct its answer, and can. */
    const askForCorrection = Effect.suspend(() => {
      const resume = sessionToGoOn(loop, state, begun.resume);
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
    // Tests have said only now that everything is done.
    if (isOver() && !wasOver) yield* askForCorrection;
    if (!isOver() && state.exceeded !== undefined) return yield* Effect.fail(state.exceeded);
    beginning = isOver() ? next : { resume: undefined };
  }
  return signal;
});
