import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { AgentAuthenticationError, AgentOverloadedError, IdleTimeoutError } from "../../../src/errors.ts";
import { OVER, type Play, tell, withClock } from "../iterations/loops.ts";

const text = (words: string): AgentEvent => ({ type: "text", text: words });
const REFUSED: AgentEvent[] = [
  { type: "error", kind: "authentication", message: "bad key", willRetry: false },
  { type: "result", isError: true, message: "bad key" },
];
const GRACE = { completionTimeoutMs: 30_000 };

/** Stays alive after what it has said. */
const lingering =
  (...events: readonly AgentEvent[]): Play =>
  (invocation) =>
    Effect.andThen(tell(invocation, ...events), Effect.never);

/** Says these things, each a while after the one before, and ends. */
const slowly =
  (pause: `${number} seconds`, ...lists: readonly (readonly AgentEvent[])[]): Play =>
  (invocation) =>
    Effect.forEach(lists, (events) => Effect.andThen(tell(invocation, ...events), Effect.sleep(pause)), {
      discard: true,
    });

describe("an agent that reports the end of its turn and stays alive", () => {
  it("is not waited for longer than the grace period, when it has failed", async () => {
    const { result } = await withClock(lingering(...REFUSED), GRACE, TestClock.adjust("30 seconds"));
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(AgentAuthenticationError) });
    expect(result).toMatchObject({ failure: { problem: "bad key", exitCode: undefined } });
  });

  it("has its last words heard that come within the grace period", async () => {
    const agent = slowly("20 seconds", [OVER], [{ type: "sessionId", sessionId: "late" }]);
    const { ends } = await withClock(agent, GRACE, TestClock.adjust("40 seconds"));
    expect(ends[0]?.result.sessionId).toBe("late");
  });

  it.each<AgentEvent>([
    { type: "raw", line: "noise", stream: "stdout" },
    { type: "toolResult", output: "noise" },
    { type: "sessionId", sessionId: "s-1" },
  ])("does not stay alive by making noise: %o", async (noise) => {
    const agent = slowly("10 seconds", [OVER], [noise], [noise], [noise], [text("DONE")]);
    const { result } = await withClock(agent, GRACE, TestClock.adjust("60 seconds"));
    expect(result).toMatchObject({ _tag: "Success", success: undefined });
  });

  it("is stopped at once when it says that it would never end", async () => {
    const stuck: AgentEvent = { type: "result", isError: true, message: "no room", mustBeStopped: true };
    const { result } = await withClock(lingering(stuck), GRACE, Effect.void);
    expect(result).toMatchObject({ _tag: "Failure", failure: { problem: "no room" } });
  });
});

describe("an agent that continues after it has reported the end of its turn", () => {
  it.each<AgentEvent>([
    text("and now"),
    { type: "toolCall", name: "shell", input: {} },
    { type: "turnStart" },
  ])("is not cut off, however long it takes: %o", async (sign) => {
    const agent = slowly("25 seconds", [OVER], [sign], [], [], [text("DONE"), OVER]);
    const { result } = await withClock(agent, GRACE, TestClock.adjust("125 seconds"));
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
  });

  it("has the whole grace period again when it says so again", async () => {
    const happened: string[] = [];
    const note = (what: string) => Effect.sync(() => void happened.push(what));
    const { result } = await withClock(
      (invocation) =>
        Effect.andThen(slowly("20 seconds", [OVER], [text("more")], [OVER])(invocation), Effect.never),
      { ...GRACE, afterIteration: () => note("ended") },
      TestClock.adjust("69 seconds").pipe(
        Effect.andThen(note("69 seconds")),
        Effect.andThen(TestClock.adjust("1 second")),
      ),
    );
    expect(result).toMatchObject({ _tag: "Success" });
    expect(happened).toEqual(["69 seconds", "ended"]);
  });

  it("has failed when it says at last that it has failed", async () => {
    const agent = slowly("10 seconds", [OVER], [text("more"), ...REFUSED]);
    const { result } = await withClock(agent, GRACE, TestClock.adjust("20 seconds"));
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(AgentAuthenticationError) });
  });

  it("has succeeded when it has got over its failure", async () => {
    const agent = slowly("10 seconds", [...REFUSED], [text("DONE"), OVER]);
    const { result } = await withClock(agent, GRACE, TestClock.adjust("20 seconds"));
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
  });

  it("is stopped by the idle timeout when it falls silent in the middle", async () => {
    const agent = lingering(OVER, text("more"));
    const { result } = await withClock(
      agent,
      { ...GRACE, idleTimeoutSeconds: 60 },
      TestClock.adjust("60 seconds"),
    );
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(IdleTimeoutError) });
  });
});

it("an agent that falls silent while it tries again has failed because of what it had met", async () => {
  const busy: AgentEvent = { type: "error", kind: "overloaded", message: "too busy", willRetry: true };
  const { result } = await withClock(
    lingering(busy),
    { idleTimeoutSeconds: 10 },
    TestClock.adjust("10 seconds"),
  );
  expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(AgentOverloadedError) });
});
