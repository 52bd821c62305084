import { describe, expect, it } from "vitest";
import type { TestResult, TestResults } from "../../../src/environment/contract.ts";
import { describeResults } from "../../../src/environment/results/describeResults.ts";

const passed = (path: string): TestResult => ({ path, passed: true, durationMs: 1 });
const failed = (path: string, message?: string): TestResult => ({
  path,
  passed: false,
  durationMs: 1,
  ...(message === undefined ? {} : { message }),
});

const resultsOf = (tests: readonly TestResult[], error: string | null = null): TestResults => {
  const failures = tests.filter((test) => !test.passed).length;
  return { path: "", passed: tests.length - failures, failed: failures, total: tests.length, tests, error };
};

const many = (count: number, message: string): TestResult[] =>
  Array.from({ length: count }, (_, index) => failed(`suite/case-${index}`, message));

describe("results in words", () => {
  it("say how many have passed, and why the others have not", () => {
    const tests = [passed("a"), failed("b/c", "expected 1\nreceived 2"), failed("d")];
    expect(describeResults(resultsOf(tests), 1000)).toBe(
      ["1 of 3 tests passed.", "- b/c: expected 1", "  received 2", "- d: failed, and says no more"].join(
        "\n",
      ),
    );
  });

  it("say that there are no results, and why", () => {
    expect(describeResults(resultsOf([]), 1000)).toBe("No test was run.");
    expect(describeResults(resultsOf([passed("a")], "The suite ended early."), 1000)).toBe(
      "1 of 1 test passed.\nThe suite ended early.",
    );
  });

  it("show no more than the first lines of a message, without colours", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const text = describeResults(resultsOf([failed("a", `\u001b[31m${lines.join("\n")}\u001b[39m`)]), 10_000);
    expect(text).toContain("- a: line 0\n  line 1\n");
    expect(text).toContain("line 19\n  …");
    expect(text).not.toMatch(/line 20|\u001b/);
  });

  it.each([40, 100, 500, 8000])("are never longer than %i characters", (maxLength) => {
    const worst = resultsOf(many(10_000, "x".repeat(4000)), "e".repeat(100_000));
    expect(describeResults(worst, maxLength).length).toBeLessThanOrEqual(maxLength);
  });

  it("say how many failures there was no room for", () => {
    const text = describeResults(resultsOf(many(100, "x".repeat(4000))), 8000);
    const shown = text.match(/^- suite/gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(10);
    expect(text).toContain(`\nAnd ${100 - shown} more failures`);
  });

  it("count failures that have no result of their own", () => {
    const results = { ...resultsOf(many(2, "wrong")), failed: 3, total: 3 };
    expect(describeResults(results, 8000)).toMatch(/\nAnd 1 more failures/);
  });

  it("give a failure the room that the others do not need", () => {
    const text = describeResults(resultsOf([failed("a", "short"), failed("b", "y".repeat(3000))]), 4000);
    expect(text).toContain("y".repeat(3000));
  });

  it("never have half of a character, wherever they are cut", () => {
    for (let maxLength = 100; maxLength < 110; maxLength++) {
      const text = describeResults(resultsOf([failed("a", "🙂".repeat(500))]), maxLength);
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
    expect(describeResults(resultsOf([failed("a", "\ud83d")]), 100)).toContain("- a: \ufffd");
  });
});
