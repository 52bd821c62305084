import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { runIterations } from "../../../src/engine/iterations/iterationLoop.ts";
import { AgentFailedError, IdleTimeoutError, ImportRefusedError } from "../../../src/errors.ts";
import { loopOf, type Play, play, runLoop, say, withClock } from "./loops.ts";

describe("the number of iterations", () => {
  it("is bounded by maxIterations", async () => {
    const { signal, ends } = await runLoop((invocation) => say(invocation, "still at it"), {
      maxIterations: 3,
    });
    expect(signal).toBeUndefined();
    expect(ends.map(({ iteration, isLast }) => [iteration, isLast])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });

  it("ends with the iteration in which the signal is printed", async () => {
    const { signal, ends } = await runLoop(
      (invocation) => say(invocation, invocation.iteration === 2 ? "DONE" : "not yet"),
      { maxIterations: 5 },
    );
    expect(signal).toBe("DONE");
    expect(ends.map(({ iteration }) => iteration)).toEqual([1, 2]);
  });
});

describe("the completion signal", () => {
  it("is the first of several that is printed", async () => {
    const { signal } = await runLoop((invocation) => say(invocation, "ABORTED, not DONE"), {
      completionSignal: ["DONE", "ABORTED"],
    });
    expect(signal).toBe("ABORTED");
  });

  it("is found when it is split over events", async () => {
    const { signal } = await runLoop((invocation) =>
      Effect.andThen(say(invocation, "DO"), say(invocation, "NE")),
    );
    expect(signal).toBe("DONE");
  });

  it("does not carry over from one iteration to the next", async () => {
    const { signal } = await runLoop(
      (invocation) => say(invocation, invocation.iteration === 1 ? "DO" : "NE"),
      {
        maxIterations: 2,
      },
    );
    expect(signal).toBeUndefined();
  });

  it.each<AgentEvent>([
    { type: "toolResult", output: "DONE" },
    { type: "toolCall", name: "echo", input: { text: "DONE" } },
    { type: "raw", line: "DONE", stream: "stdout" },
    { type: "raw", line: "DONE", stream: "stderr" },
    { type: "result", isError: false, message: "DONE" },
  ])("counts in the agent's own words only: not in %o", async (event) => {
    const { signal } = await runLoop((invocation) => Effect.sync(() => invocation.onEvent(event)));
    expect(signal).toBeUndefined();
  });

  it("never stops an agent that continues to work", async () => {
    const { result } = await withClock(
      (invocation) =>
        say(invocation, "I will print DONE when I am done").pipe(
          Effect.andThen(Effect.sleep("5 minutes")),
          Effect.andThen(say(invocation, "really finished")),
        ),
      {},
      TestClock.adjust("5 minutes"),
    );
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
  });
});

describe("the idle timeout", () => {
  const silent: Play = () => Effect.never;

  it("stops an agent that says nothing", async () => {
    const { result, ends } = await withClock(
      silent,
      { idleTimeoutSeconds: 10 },
      TestClock.adjust("10 seconds"),
    );
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(IdleTimeoutError) });
    expect(ends).toMatchObject([{ iteration: 1, failed: true }]);
  });

  it("starts anew with every sign of life", async () => {
    const signs: Play = (invocation) =>
      Effect.forEach(
        ["event", "activity", "event", "activity"],
        (sign) =>
          Effect.sleep("9 seconds").pipe(
            Effect.andThen(sign === "event" ? say(invocation, ".") : Effect.sync(invocation.onActivity)),
          ),
        { discard: true },
      );
    const { result } = await withClock(signs, { idleTimeoutSeconds: 10 }, TestClock.adjust("40 seconds"));
    expect(result).toMatchObject({ _tag: "Success" });
  });
});

describe("an agent that has ended its turn", () => {
  const finishedBut: Play = (invocation) =>
    Effect.sync(() => invocation.onEvent({ type: "result", isError: false })).pipe(
      Effect.andThen(Effect.never),
    );

  it("is ended after a grace period when something keeps it alive, and has succeeded", async () => {
    const { result, ends } = await withClock(
      finishedBut,
      { completionTimeoutMs: 30_000 },
      TestClock.adjust("30 seconds"),
    );
    expect(result).toMatchObject({ _tag: "Success" });
    expect(ends).toMatchObject([{ failed: false }]);
  });
});

describe("what comes after an iteration", () => {
  it("happens when the agent failed, too, and does not hide its error", async () => {
    const { loop, observed } = loopOf({
      afterIteration: (end) => {
        observed.ends.push(end);
        return Effect.fail(new ImportRefusedError("broken", undefined));
      },
    });
    const failing: Play = () => Effect.fail(new AgentFailedError("fake", "it failed", 1, ""));
    const error = await Effect.runPromise(Effect.flip(play(runIterations(loop), failing)));
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(observed.ends).toMatchObject([{ iteration: 1, failed: true }]);
    expect(observed.warnings).toEqual([expect.stringContaining("broken")]);
  });

  it("does not hide the agent's error when it fails unexpectedly", async () => {
    const { loop } = loopOf({ afterIteration: () => Effect.die(new TypeError("a bug")) });
    const failing: Play = () => Effect.fail(new AgentFailedError("fake", "it failed", 1, ""));
    const error = await Effect.runPromise(Effect.flip(play(runIterations(loop), failing)));
    expect(error).toBeInstanceOf(AgentFailedError);
  });

  it("happens when the loop is interrupted", async () => {
    const { loop, observed } = loopOf();
    const program = Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(runIterations(loop));
      yield* Effect.yieldNow;
      yield* Fiber.interrupt(fiber);
    });
    await Effect.runPromise(play(program, () => Effect.never));
    expect(observed.ends).toMatchObject([{ iteration: 1, failed: true }]);
  });

  it("fails the run when the agent had succeeded", async () => {
    const { loop } = loopOf({
      afterIteration: () => Effect.fail(new ImportRefusedError("broken", undefined)),
    });
    const error = await Effect.runPromise(Effect.flip(play(runIterations(loop), () => Effect.void)));
    expect(error).toBeInstanceOf(ImportRefusedError);
  });
});

it("sums usage and keeps the session id of an iteration", async () => {
  const usage = { inputTokens: 1, cacheCreationInputTokens: 2, cacheReadInputTokens: 3, outputTokens: 4 };
  const { ends } = await runLoop((invocation) =>
    Effect.sync(() => {
      invocation.onEvent({ type: "usage", usage });
      invocation.onEvent({ type: "sessionId", sessionId: "s-1" });
      invocation.onEvent({ type: "usage", usage });
    }),
  );
  expect(ends[0]?.result).toEqual({
    sessionId: "s-1",
    usage: { inputTokens: 2, cacheCreationInputTokens: 4, cacheReadInputTokens: 6, outputTokens: 8 },
  });
});

it("gives every event its iteration and time, in order", async () => {
  const { events } = await runLoop(
    (invocation) => Effect.andThen(say(invocation, "a"), say(invocation, "b")),
    {
      maxIterations: 2,
    },
  );
  expect(events.map((event) => [event.iteration, event.type === "text" && event.text])).toEqual([
    [1, "a"],
    [1, "b"],
    [2, "a"],
    [2, "b"],
  ]);
  for (const { timestamp } of events) expect(timestamp).toBeInstanceOf(Date);
});
