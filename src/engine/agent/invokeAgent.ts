import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type { AgentEvent, AgentIteration } from "../../agents/contract.ts";
import { type BudgetExceededError, IdleTimeoutError, type SandduneError } from "../../errors.ts";
import type { IterationLoop } from "../iterations/iterationLoop.ts";
import { AgentInvoker } from "./agentInvoker.ts";
import { type AgentExit, AgentVerdict } from "./agentVerdict.ts";
import { ModelReachability } from "./modelReachability.ts";

/** Lets the process handle all input that has already arrived. */
const nextTick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));

/** Fails when the agent has printed nothing for the whole idle timeout. */
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
    // This process may have been paused itself, for example with its terminal: first read what has arrived.
    yield* nextTick;
    // After the end of its turn, the agent prints nothing more.
    if (hasEnded()) yield* Effect.sleep(idleTimeoutMs);
    else if (silentMs() >= idleTimeoutMs) {
      return yield* Effect.fail(new IdleTimeoutError(agent.name, idleTimeoutSeconds));
    }
  }
});

/** Ends some time after the agent's turn. Some agents continue, and report the end of the turn again. */
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

/** Whether an event shows that the agent is in the middle of a turn. */
const isWork = ({ type }: AgentEvent): boolean =>
  type === "text" || type === "toolCall" || type === "turnStart";

/** One invocation of the agent, and what the loop gets to know of it. */
export interface Invocation {
  readonly iteration: AgentIteration;
  readonly onEvent: (event: AgentEvent) => void;
  /** Counts the tokens of an event. Returns an error when they exceed the budget. */
  readonly spend: (event: AgentEvent) => BudgetExceededError | undefined;
  readonly hasSaidSignal: () => boolean;
}

/** Invokes the agent once. Ends with its process or, if that stays alive, some time after its turn. */
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
  /** The agent had reported the end of its turn, but continues although the budget is exceeded. */
  const continuesOverBudget = yield* Deferred.make<never, BudgetExceededError>();
  const cannotReach = yield* Deferred.make<never, SandduneError>();
  let exceeded: BudgetExceededError | undefined;
  let endedAt: number | undefined;
  let lastActivity = now();
  const onActivity = () => {
    lastActivity = now();
  };
  const receive = (event: AgentEvent) => {
    const receivedAt = now();
    lastActivity = receivedAt;
    verdict.push(event);
    if (isWork(event)) {
      const continues = endedAt !== undefined || event.type === "toolCall";
      if (exceeded !== undefined && continues)
        Deferred.doneUnsafe(continuesOverBudget, Effect.fail(exceeded));
      endedAt = undefined;
    }
    if (event.type === "result") {
      endedAt = receivedAt;
      Deferred.doneUnsafe(turnEnded, Effect.void);
      if (event.mustBeStopped) Deferred.doneUnsafe(mustBeStopped, Effect.succeed(undefined));
    }
    const isInVain = reach.push(event, receivedAt);
    if (isInVain !== undefined) {
      Deferred.doneUnsafe(cannotReach, Effect.fail(verdict.failureOfReach(agent, isInVain)));
    }
    exceeded = spend(event);
    if (exceeded !== undefined) Deferred.doneUnsafe(budgetExceeded, Effect.succeed(exceeded));
    onEvent(event);
  };
  const watchBudget = Deferred.await(budgetExceeded).pipe(
    // The usage may arrive together with the end of the turn.
    Effect.tap(() => nextTick),
    // An agent at the end of its turn exits by itself, and its work is complete.
    Effect.flatMap((error) =>
      endedAt === undefined && !hasSaidSignal() ? Effect.fail(error) : Deferred.await(continuesOverBudget),
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
