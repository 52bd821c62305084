import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { BudgetExceededError } from "../../../src/errors.ts";
import { OVER, type Overrides, type Play, tell, tokens, withClock } from "./loops.ts";

const text = (words: string): AgentEvent => ({ type: "text", text: words });
const limits = (overrides: Overrides = {}): Overrides => ({
  maxTokens: 100,
  maxIterations: 3,
  ...overrides,
});
const run = (agent: Play, overrides?: Overrides) =>
  withClock(agent, limits(overrides), TestClock.adjust("1 second"));

const EXCEEDED = {
  _tag: "Failure",
  failure: expect.objectContaining({ option: "maxTokens", limit: 100 }),
};

describe("a budget that is exceeded in the middle of a turn", () => {
  /** Works on for ever after what it has said. */
  const endless =
    (...events: readonly AgentEvent[]): Play =>
    (invocation) =>
      Effect.andThen(tell(invocation, ...events), Effect.never);

  it("stops the agent, which might have continued forever", async () => {
    const { result, ends } = await run(endless(text("working"), tokens(101)));
    expect(result).toMatchObject(EXCEEDED);
    expect(ends).toMatchObject([{ iteration: 1, failed: true, isLast: true }]);
  });

  it("keeps what has been used in the iteration's result", async () => {
    const { ends } = await run(endless(tokens(60), tokens(60)));
    expect(ends[0]?.result.usage?.outputTokens).toBe(120);
  });

  it("lets an agent end by itself that has said the signal, and is no error", async () => {
    const { result } = await run((invocation) =>
      tell(invocation, text("DONE"), tokens(101)).pipe(
        Effect.andThen(Effect.sleep("1 second")),
        Effect.andThen(tell(invocation, OVER)),
      ),
    );
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
  });

  it("stops an agent that had only spoken of the signal, as its next tool call shows", async () => {
    const { result } = await run((invocation) =>
      tell(invocation, text("I will say DONE"), tokens(101)).pipe(
        Effect.andThen(Effect.sleep("1 second")),
        Effect.andThen(tell(invocation, { type: "toolCall", name: "shell", input: {} })),
        Effect.andThen(Effect.never),
      ),
    );
    expect(result).toMatchObject(EXCEEDED);
  });

  it("is exceeded by all iterations together", async () => {
    const { result, ends } = await run((invocation) =>
      invocation.iteration === 1
        ? tell(invocation, tokens(60), OVER)
        : Effect.andThen(tell(invocation, tokens(60)), Effect.never),
    );
    expect(result).toMatchObject({ ...EXCEEDED, failure: { used: 120 } });
    expect(ends.map(({ iteration, failed }) => [iteration, failed])).toEqual([
      [1, false],
      [2, true],
    ]);
  });
});

describe("a budget that is exceeded at the end of a turn", () => {
  it("lets the agent end by itself, and begins no other iteration", async () => {
    let ended = false;
    const { result, ends } = await run((invocation) =>
      tell(invocation, text("one"), tokens(101), OVER).pipe(
        Effect.andThen(Effect.sleep("1 second")),
        Effect.andThen(Effect.sync(() => (ended = true))),
      ),
    );
    expect(ended).toBe(true);
    expect(result).toMatchObject(EXCEEDED);
    expect(ends).toMatchObject([{ iteration: 1, failed: false, isLast: true }]);
  });

  it("is no error when the agent has said the signal: the work is done", async () => {
    const { result } = await run((invocation) => tell(invocation, text("DONE"), tokens(101), OVER));
    expect(result).toMatchObject({ _tag: "Success", success: "DONE" });
  });

  it("is no error in the last iteration: there is nothing to stop", async () => {
    const { result } = await run((invocation) => tell(invocation, tokens(101), OVER), { maxIterations: 1 });
    expect(result).toMatchObject({ _tag: "Success" });
  });

  it("stops an agent that continues after it has reported the end of its turn", async () => {
    const { result } = await run((invocation) =>
      tell(invocation, tokens(101), OVER).pipe(
        Effect.andThen(Effect.sleep("1 second")),
        Effect.andThen(tell(invocation, text("and another thing"))),
        Effect.andThen(Effect.never),
      ),
    );
    expect(result).toMatchObject({ _tag: "Failure", failure: expect.any(BudgetExceededError) });
  });
});

it("a budget that is used up to the last token stops nothing", async () => {
  const { result, ends } = await run((invocation) =>
    invocation.iteration === 1 ? tell(invocation, tokens(100), OVER) : tell(invocation, text("DONE"), OVER),
  );
  expect(result).toMatchObject({ success: "DONE" });
  expect(ends).toHaveLength(2);
});
