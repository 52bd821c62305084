import { expect, it } from "vitest";
import type { TestResult, TestResults } from "../../../src/environment/contract.ts";
import { boundResults } from "../../../src/environment/results/boundResults.ts";
import { readResults } from "../../../src/environment/results/readResults.ts";

const resultsOf = (tests: readonly TestResult[], error: string | null = null): TestResults => {
  const failed = tests.filter(({ passed }) => !passed).length;
  return { path: "", passed: tests.length - failed, failed, total: tests.length, tests, error };
};

const tests = (count: number, passed: boolean, message?: string): TestResult[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `${passed ? "passes" : "fails"}/${"long-name/".repeat(45)}${index}`,
    passed,
    durationMs: index,
    ...(message !== undefined && { message }),
  }));

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

it("leaves results alone that fit", () => {
  const results = resultsOf([...tests(10, true), ...tests(10, false, "no")], "not all");
  expect(boundResults(results)).toEqual(results);
});

it("shortens messages before it leaves anything out", () => {
  const bounded = boundResults(resultsOf(tests(600, false, "m".repeat(4000))));
  expect(bounded.tests).toHaveLength(600);
  expect(bounded.tests[0]?.message).toMatch(/^m{999}…$/);
  expect(bytes(bounded)).toBeLessThan(1024 * 1024);
});

it("leaves passed tests out before failed ones; the counts stay true, and that all have passed is still said", () => {
  const some = boundResults(resultsOf([...tests(5000, true), ...tests(100, false, "m".repeat(4000))]));
  expect(some).toMatchObject({ passed: 5000, failed: 100, total: 5100, error: null });
  expect(some.tests.filter(({ passed }) => !passed)).toHaveLength(100);
  expect(bytes(some)).toBeLessThan(1024 * 1024);
  const all = boundResults(resultsOf(tests(10_000, true)));
  expect(all).toMatchObject({ passed: 10_000, failed: 0, total: 10_000, error: null });
  expect(readResults(JSON.parse(JSON.stringify(all)))).toEqual(all);
});

it("says how many failed tests it has left out", () => {
  const bounded = boundResults(resultsOf(tests(3000, false, "m".repeat(4000)), "the suite is broken"));
  expect(bounded).toMatchObject({ failed: 3000, total: 3000 });
  expect(bounded.error).toBe(
    `the suite is broken ${3000 - bounded.tests.length} failed tests are left out: the answer would be too large. Ask for fewer tests at a time.`,
  );
  expect(bytes(bounded)).toBeLessThan(1024 * 1024);
});
