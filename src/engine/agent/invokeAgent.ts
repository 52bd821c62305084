import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentIteration } from "../../agents/contract.ts";
import { type BudgetExceededError, IdleTimeoutError, type SandduneError } from "../../errors.ts";
import type { IterationLoop } from "../iterations/iterationLoop.ts";
import { AgentInvoker } from "./agentInvoker.ts";
import { type AgentExit, AgentVerdict } from "./agentVerdict.ts";
import { ModelReachability } from "./modelReachability.ts";

/** Lets everything happen first that has arrived already. */
const nextTick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));

/** Fails once nothing has been heard of the agent for the whole idle timeout. */
const watchIdle = Effect.fnUntraced(function* (
  { options }: IterationLoop,
  now: () => number,
  lastActivity: () => number,
  hasEnded: () => boolean,
): Effect.fn.Return<never, IdleTimeoutError> {
  const { agent, idleTimeoutSeconds } = options;
  const idleTimeoutMs = idleTimeoutSeconds * 1000;
  const silentMs = () => now() - lastActivity();
  for (;;) {
    yield* Effect.sleep(Math.max(0, idleTimeoutMs - silentMs()));
    // This process may have been held up itself, by a paused terminal for one: first it reads what has arrived.
    yield* nextTick;
    // Whoever has ended the turn has nothing more to say.
    if (hasEnded()) yield* Effect.sleep(idleTimeoutMs);
    else if (silentMs() >= idleTimeoutMs) {
      return yield* Effect.fail(new IdleTimeoutError(agent.name, idleTimeoutSeconds));
    }
  }
});

/** Ends once the agent's turn has been over for a while. Some go on after that, and say later that it is over again. */
const watchLingering = Effect.fnUntraced(function* (
  timeoutMs: number,
  now: () => number,
  turnEnded: Deferred.Deferred<void>,
  endedAt: () => number | undefined,
): Effect.fn.Return<undefined> {
  yield* Deferred.await(turnEnded);
  for (;;) {
    const left = (endedAt() ?? now()) + timeoutMs - now();
    if (left <= 0) return undefined;
    yield* Effect.sleep(left);
  }
});

/** What an agent does that has not ended its turn, or has begun another. */
const isWork = ({ type }: AgentEvent): boolean =>
  type === "text" || type === "toolCall" || type === "turnStart";

/** The agent as it is invoked once: what it says is told to the loop, and decides how the invocation ends. */
export interface Invocation {
  readonly iteration: AgentIteration;
  readonly onEvent: (event: AgentEvent) => void;
  /** Counts what the agent has used; says so once that is too much. */
  readonly spend: (event: AgentEvent) => BudgetExceededError | undefined;
  readonly hasSaidSignal: () => boolean;
}

/**
 * Invokes the agent once. It is over when the agent's process is; or, when the agent has said that its turn is over but
 * something it left behind keeps the process alive, a grace period after that.
 */
export const invokeAgent = Effect.fnUntraced(function* (
  loop: IterationLoop,
  { iteration, onEvent, spend, hasSaidSignal }: Invocation,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { agent, idleTimeoutSeconds, completionTimeoutMs } = loop.options;
  const invoker = yield* AgentInvoker;
  const clock = yield* Clock.Clock;
  const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n);
  const verdict = new AgentVerdict(loop.sandboxName ?? loop.sandbox.name);
  const reach = new ModelReachability(idleTimeoutSeconds * 1000);
  const turnEnded = yield* Deferred.make<void>();
  const mustBeStopped = yield* Deferred.make<undefined>();
  const budgetExceeded = yield* Deferred.make<BudgetExceededError>();
  /** The agent seemed to be done, and goes on although there is nothing left to spend. */
  const goesOnForNothing = yield* Deferred.make<never, BudgetExceededError>();
  const cannotReach = yield* Deferred.make<never, SandduneError>();
  let exceeded: BudgetExceededError | undefined;
  let endedAt: number | undefined;
  let lastActivity = now();
  const onActivity = () => {
    lastActivity = now();
  };
  const receive = (event: AgentEvent) => {
    onActivity();
    verdict.push(event);
    if (isWork(event)) {
      const goesOn = endedAt !== undefined || event.type === "toolCall";
      if (exceeded !== undefined && goesOn) Deferred.doneUnsafe(goesOnForNothing, Effect.fail(exceeded));
      endedAt = undefined;
    }
    if (event.type === "result") {
      endedAt = now();
      Deferred.doneUnsafe(turnEnded, Effect.void);
      if (event.mustBeStopped) Deferred.doneUnsafe(mustBeStopped, Effect.succeed(undefined));
    }
    const isInVain = reach.push(event, now());
    if (isInVain !== undefined) {
      Deferred.doneUnsafe(cannotReach, Effect.fail(verdict.failureOfReach(agent, isInVain)));
    }
    exceeded = spend(event);
    if (exceeded !== undefined) Deferred.doneUnsafe(budgetExceeded, Effect.succeed(exceeded));
    onEvent(event);
  };
  const watchBudget = Deferred.await(budgetExceeded).pipe(
    // What it has used may come in the same breath as the news that its turn is over.
    Effect.tap(() => nextTick),
    // An agent that is done ends by itself, and what it did is whole.
    Effect.flatMap((error) =>
      endedAt === undefined && !hasSaidSignal() ? Effect.fail(error) : Deferred.await(goesOnForNothing),
    ),
  );
  const exit = yield* invoker
    .invoke({
      ...iteration,
      agent,
      sandbox: loop.sandbox,
      cwd: loop.cwd,
      env: loop.env,
      onEvent: receive,
      onLine: loop.onLine,
      redactCaptured: loop.redactCaptured,
      onActivity,
    })
    .pipe(
      Effect.raceFirst(
        Effect.mapError(
          watchIdle(
            loop,
            now,
            () => lastActivity,
            () => endedAt !== undefined,
          ),
          (silence) => verdict.failureOfSilence(agent, silence),
        ),
      ),
      Effect.raceFirst(watchLingering(completionTimeoutMs, now, turnEnded, () => endedAt)),
      Effect.raceFirst(Deferred.await(mustBeStopped)),
      Effect.raceFirst(watchBudget),
      Effect.raceFirst(Deferred.await(cannotReach)),
      Effect.raceFirst(loop.whileWorking ?? Effect.never),
    );
  const stopped: AgentExit = { exitCode: undefined, stderr: "", program: "" };
  const failure = verdict.failureOf(agent, exit ?? stopped);
  if (failure !== undefined) return yield* Effect.fail(failure);
});
