import { describe, expect, it } from "vitest";
import { Budget, type BudgetLimits } from "../../../src/engine/iterations/budget.ts";
import { BudgetExceededError } from "../../../src/errors.ts";
import type { IterationUsage } from "../../../src/options/results.ts";

const usage = (overrides: Partial<IterationUsage>): IterationUsage => ({
  inputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 0,
  ...overrides,
});
const ALL = { inputTokens: 1, cacheCreationInputTokens: 20, cacheReadInputTokens: 300, outputTokens: 4000 };
const PRICES = { inputPerMillion: 3, outputPerMillion: 15 };

/** What each of several steps is told. */
const spend = (limits: BudgetLimits, ...steps: readonly Partial<IterationUsage>[]) => {
  const budget = new Budget(limits);
  return steps.map((step) => budget.spend(usage(step)));
};

describe("a budget of tokens", () => {
  it("counts tokens of every kind", () => {
    expect(spend({ maxTokens: 4320 }, ALL)).toEqual([
      expect.objectContaining({ option: "maxTokens", limit: 4320, used: 4321 }),
    ]);
  });

  it("may be used up to the last token", () => {
    expect(spend({ maxTokens: 4321 }, ALL)).toEqual([undefined]);
  });

  it("is exceeded by the step that crosses it, and from then on", () => {
    const told = spend(
      { maxTokens: 100 },
      { inputTokens: 60 },
      { outputTokens: 40 },
      { outputTokens: 1 },
      {},
    );
    expect(told).toEqual([
      undefined,
      undefined,
      expect.any(BudgetExceededError),
      expect.any(BudgetExceededError),
    ]);
  });

  it("may be nothing at all", () => {
    expect(spend({ maxTokens: 0 }, {}, { inputTokens: 1 })).toEqual([
      undefined,
      expect.any(BudgetExceededError),
    ]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1000])(
    "does not believe an agent that it has used %d tokens",
    (tokens) => {
      const told = spend(
        { maxTokens: 100 },
        { inputTokens: 90 },
        { inputTokens: tokens },
        { inputTokens: 20 },
      );
      expect(told).toEqual([undefined, undefined, expect.objectContaining({ used: 110 })]);
    },
  );
});

describe("a budget of money", () => {
  it.each<[string, BudgetLimits["prices"], number]>([
    ["at the prices of input and output", PRICES, (1 + 20 + 300) * 3 + 4000 * 15],
    [
      "at a price of its own for what is written to the cache",
      { ...PRICES, cacheCreationPerMillion: 4 },
      301 * 3 + 20 * 4 + 4000 * 15,
    ],
    [
      "at a price of its own for what is read from the cache",
      { ...PRICES, cacheReadPerMillion: 0 },
      21 * 3 + 4000 * 15,
    ],
  ])("counts %s", (_, prices, perMillion) => {
    const cost = perMillion / 1_000_000;
    const [error] = spend({ maxCostUsd: cost - 0.000_001, prices }, ALL);
    expect(error).toMatchObject({ option: "maxCostUsd" });
    expect(error?.used).toBeCloseTo(cost, 9);
    expect(spend({ maxCostUsd: cost + 0.000_001, prices }, ALL)).toEqual([undefined]);
  });

  it("says what was spent in a way that people read", () => {
    const [error] = spend({ maxCostUsd: 0.05, prices: PRICES }, { outputTokens: 10_000 });
    expect(error?.message).toContain("0.15 USD");
    expect(error?.message).toContain("0.05 USD");
    expect(error?.message).toContain("commits are kept");
  });
});

it("no budget is never exceeded", () => {
  expect(spend({}, { inputTokens: 1e15 }, { outputTokens: 1e15 })).toEqual([undefined, undefined]);
});

it("of two budgets, that of tokens is named first", () => {
  const [error] = spend({ maxTokens: 1, maxCostUsd: 0, prices: PRICES }, ALL);
  expect(error?.option).toBe("maxTokens");
});
