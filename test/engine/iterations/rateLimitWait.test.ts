import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentSessions, ResumedSession } from "../../../src/agents/contract.ts";
import type { AgentInvocation } from "../../../src/engine/agent/agentInvoker.ts";
import { runIterations } from "../../../src/engine/iterations/iterationLoop.ts";
import { AgentFailedError, AgentRateLimitError, BudgetExceededError } from "../../../src/errors.ts";
import { AGENT, loopOf, OVER, type Overrides, type Play, play, tell, tokens, withClock } from "./loops.ts";

const MINUTE = 60_000;
const SESSIONS: AgentSessions = {
  directory: { variable: "FAKE", inHome: ".fake" },
  files: () => [],
  place: (file) => file,
};
const RESUMING: Overrides = {
  agent: { ...AGENT, sessions: SESSIONS },
  onRateLimit: { waitUpToMs: 60 * MINUTE },
};

/** The agent gives up because of a rate limit, which ends at a time of the test's clock. */
const limited = (endsAt?: number): AgentEvent[] => [
  {
    type: "error",
    kind: "rateLimit",
    message: "slow down",
    willRetry: false,
    ...(endsAt !== undefined && { retryAt: new Date(endsAt) }),
  },
  { type: "result", isError: true, message: "slow down" },
];
const session = (sessionId: string): AgentEvent => ({ type: "sessionId", sessionId });
const done: AgentEvent = { type: "text", text: "DONE" };

/** An agent that plays these events, one list for each time that it is started, and what it was started with. */
const playing = (...lists: readonly (readonly AgentEvent[])[]) => {
  const started: Pick<AgentInvocation, "prompt" | "iteration" | "resume">[] = [];
  const agent: Play = (invocation) => {
    const { prompt, iteration, resume } = invocation;
    started.push({ prompt, iteration, ...(resume && { resume }) });
    return tell(invocation, ...(lists[started.length - 1] ?? []));
  };
  return { agent, started };
};

describe("an agent that was held up by a rate limit", () => {
  it("continues with the same session when it ends, in the same iteration", async () => {
    const { agent, started } = playing(
      [session("s-1"), ...limited(5 * MINUTE)],
      [session("s-1"), done, OVER],
    );
    const { result, ends, waits } = await withClock(agent, RESUMING, TestClock.adjust("5 minutes"));
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
    expect(started).toEqual([
      { prompt: "the prompt", iteration: 1 },
      {
        prompt: expect.stringMatching(/continue where/i),
        iteration: 1,
        resume: { sessionId: "s-1", isFork: false },
      },
    ]);
    expect(ends).toMatchObject([{ iteration: 1, failed: false, result: { sessionId: "s-1" } }]);
    expect(waits).toEqual([new Date(5 * MINUTE), "over"]);
  });

  it("is not started before it ends", async () => {
    const { agent, started } = playing([session("s-1"), ...limited(5 * MINUTE)], [done, OVER]);
    const numbers: number[] = [];
    const look = Effect.sync(() => void numbers.push(started.length));
    await withClock(
      agent,
      RESUMING,
      TestClock.adjust("299 seconds").pipe(
        Effect.andThen(look),
        Effect.andThen(TestClock.adjust("1 second")),
        Effect.andThen(look),
      ),
    );
    expect(numbers).toEqual([1, 2]);
  });

  it("is no longer told the prompt when it had been begun with another session", async () => {
    const { agent, started } = playing([session("copy"), ...limited(MINUTE)], [done, OVER]);
    const resume: ResumedSession = { sessionId: "s-0", isFork: true };
    await withClock(agent, { ...RESUMING, resume }, TestClock.adjust("1 minute"));
    expect(started.map((each) => each.resume)).toEqual([resume, { sessionId: "copy", isFork: false }]);
  });

  it("begins anew, with its prompt, when it has told no session", async () => {
    const { agent, started } = playing(limited(MINUTE), [done, OVER]);
    await withClock(agent, RESUMING, TestClock.adjust("1 minute"));
    expect(started).toEqual([
      { prompt: "the prompt", iteration: 1 },
      { prompt: "the prompt", iteration: 1 },
    ]);
  });

  it("begins anew, with its prompt, when its sessions cannot be resumed", async () => {
    const { agent, started } = playing([session("s-1"), ...limited(MINUTE)], [done, OVER]);
    await withClock(agent, { onRateLimit: { waitUpToMs: 60 * MINUTE } }, TestClock.adjust("1 minute"));
    expect(started.map(({ prompt, resume }) => [prompt, resume])).toEqual([
      ["the prompt", undefined],
      ["the prompt", undefined],
    ]);
  });

  it("knows what its session had used: before the run, and in it", async () => {
    const usedBefore = {
      inputTokens: 7,
      cacheCreationInputTokens: 0,
      cacheReadInputTokens: 0,
      outputTokens: 100,
    };
    const { agent, started } = playing(
      [session("s-1"), tokens(20), ...limited(MINUTE)],
      [session("s-1"), tokens(3), ...limited(2 * MINUTE)],
      [done, OVER],
    );
    const resume = { sessionId: "s-1", isFork: false, usedBefore };
    const { ends } = await withClock(agent, { ...RESUMING, resume }, TestClock.adjust("2 minutes"));
    expect(started.map((each) => each.resume?.usedBefore?.outputTokens)).toEqual([100, 120, 123]);
    expect(ends[0]?.result.usage?.outputTokens).toBe(23);
  });

  it("may be held up again and again", async () => {
    const { agent, started } = playing(
      [session("s-1"), ...limited(MINUTE)],
      [...limited(2 * MINUTE)],
      [...limited(3 * MINUTE)],
      [done, OVER],
    );
    const { result } = await withClock(agent, RESUMING, TestClock.adjust("3 minutes"));
    expect(result).toMatchObject({ success: "DONE" });
    expect(started.map((each) => each.resume?.sessionId)).toEqual([undefined, "s-1", "s-1", "s-1"]);
  });

  it("has the completion signal found that it began to say before", async () => {
    const { agent } = playing([session("s-1"), done, ...limited(MINUTE)], [OVER]);
    const { result } = await withClock(agent, RESUMING, TestClock.adjust("1 minute"));
    expect(result).toMatchObject({ success: "DONE" });
  });

  it("begins its next iteration with the prompt and a session of its own", async () => {
    const { agent, started } = playing([session("s-1"), ...limited(MINUTE)], [OVER], [done, OVER]);
    await withClock(agent, { ...RESUMING, maxIterations: 3 }, TestClock.adjust("1 minute"));
    expect(started.at(-1)).toEqual({ prompt: "the prompt", iteration: 2 });
  });
});

describe("a rate limit that is not waited for", () => {
  const failedWith = async (waitMs: number, ...lists: readonly (readonly AgentEvent[])[]) => {
    const { agent, started } = playing(...lists);
    const outcome = await withClock(
      agent,
      { ...RESUMING, onRateLimit: { waitUpToMs: waitMs } },
      TestClock.adjust("10 minutes"),
    );
    return { ...outcome, started };
  };
  const failure = { _tag: "Failure", failure: expect.any(AgentRateLimitError) };

  it("fails the run at once when the caller does not want to wait", async () => {
    const { result, waits, ends } = await failedWith(0, limited(MINUTE));
    expect(result).toMatchObject(failure);
    expect(waits).toEqual([]);
    expect(ends).toMatchObject([{ failed: true, isLast: true }]);
  });

  it("fails the run at once when it is too long", async () => {
    const { result, waits, started } = await failedWith(4 * MINUTE, limited(5 * MINUTE));
    expect(result).toMatchObject({ ...failure, failure: { retryAt: new Date(5 * MINUTE) } });
    expect([waits, started.length]).toEqual([[], 1]);
  });

  it("fails the run when all the time is used up", async () => {
    const { result, started } = await failedWith(4 * MINUTE, limited(3 * MINUTE), limited(6 * MINUTE));
    expect(result).toMatchObject(failure);
    expect(started).toHaveLength(2);
  });

  it("fails the run when it should have ended long ago, but comes again until all the time is used up", async () => {
    const longAgo = limited(-25 * 365 * 24 * 60 * MINUTE);
    const { result, started } = await failedWith(3000, longAgo, longAgo, longAgo, longAgo);
    expect(result).toMatchObject(failure);
    expect(started).toHaveLength(3);
  });

  it("fails the run at once when its end is no time at all", async () => {
    const { result, waits } = await failedWith(60 * MINUTE, limited(Number.NaN));
    expect(result).toMatchObject(failure);
    expect(waits).toEqual([]);
  });

  it("is another failure, however much time is left", async () => {
    const { result, started } = await failedWith(60 * MINUTE, [
      { type: "result", isError: true, message: "no" },
    ]);
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(AgentFailedError) });
    expect(started).toHaveLength(1);
  });
});

it("a rate limit with an unknown end is waited for longer each time", async () => {
  const { agent } = playing(limited(), limited(), [done, OVER]);
  const { result, waits } = await withClock(agent, RESUMING, TestClock.adjust("3 minutes"));
  expect(result).toMatchObject({ success: "DONE" });
  expect(waits).toEqual([new Date(MINUTE), "over", new Date(3 * MINUTE), "over"]);
});

it("waiting for a rate limit does not count as silence of the agent", async () => {
  const { agent } = playing([session("s-1"), ...limited(50 * MINUTE)], [done, OVER]);
  const { result } = await withClock(
    agent,
    { ...RESUMING, idleTimeoutSeconds: 1 },
    TestClock.adjust("50 minutes"),
  );
  expect(result).toMatchObject({ success: "DONE" });
});

it("waiting for a rate limit ends when the run is stopped", async () => {
  const { agent, started } = playing([session("s-1"), ...limited(5 * MINUTE)]);
  const { loop, observed } = loopOf(RESUMING);
  const program = Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(runIterations(loop));
    yield* TestClock.adjust("1 minute");
    yield* Fiber.interrupt(fiber);
  });
  await Effect.runPromise(play(program, agent));
  expect(observed.waits).toEqual([new Date(5 * MINUTE), "over"]);
  expect(observed.ends).toMatchObject([{ iteration: 1, failed: true }]);
  expect(started).toHaveLength(1);
});

it("an agent that has nothing left to spend is not started again after a rate limit", async () => {
  const { agent, started } = playing([session("s-1"), tokens(500), ...limited(MINUTE)], [done, OVER]);
  const { result } = await withClock(agent, { ...RESUMING, maxTokens: 100 }, TestClock.adjust("1 minute"));
  expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(BudgetExceededError) });
  expect(started).toHaveLength(1);
});
