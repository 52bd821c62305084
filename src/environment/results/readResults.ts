import { shorten } from "../../tools/shorten.ts";
import { isAmount, isCount, isObject } from "../../tools/values/predicates.ts";
import type { TestResult, TestResults } from "../contract.ts";
import { testPathProblem } from "../definition/testPath.ts";
import { MAX_MESSAGE_LENGTH, MAX_TESTS } from "../limits.ts";

const resultProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "is not an object";
  const { path, passed, durationMs, message } = value;
  const problem = typeof path === "string" ? testPathProblem(path) : "must be a string";
  if (problem !== undefined) return `has an invalid "path": it ${problem}`;
  if (typeof passed !== "boolean") return 'has a "passed" that is neither true nor false';
  if (!isAmount(durationMs)) return 'has a "durationMs" that is not a number, 0 or more';
  if (message !== undefined && message !== null && typeof message !== "string")
    return 'has a "message" that is not a string';
  return undefined;
};

/** What is wrong with results of tests; `undefined` if they are right. */
export const resultsProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "it is not an object";
  const { path, passed, failed, total, tests, error } = value;
  if (typeof path !== "string") return '"path" is not a string';
  if (!isCount(passed) || !isCount(failed) || !isCount(total))
    return '"passed", "failed" and "total" are not all whole numbers';
  if (passed + failed !== total) return '"total" is not the sum of "passed" and "failed"';
  if (!Array.isArray(tests)) return '"tests" is not a list';
  if (tests.length > MAX_TESTS) return `"tests" has more than ${MAX_TESTS} items`;
  for (const [index, test] of tests.entries()) {
    const problem = resultProblem(test);
    if (problem !== undefined) return `item ${index} of "tests" ${problem}`;
  }
  const listed = tests.filter((test: TestResult) => !test.passed).length;
  if (listed > failed || tests.length - listed > passed) return '"tests" has more items than were counted';
  if (error !== undefined && error !== null && typeof error !== "string")
    return '"error" is neither null nor a string';
  return undefined;
};

const readResult = ({ path, passed, durationMs, message }: TestResult): TestResult => ({
  path,
  passed,
  durationMs,
  ...(typeof message === "string" && !passed && { message: shorten(message, MAX_MESSAGE_LENGTH) }),
});

/** The known members of results that another process sent; `undefined` if the value is not results. */
export const readResults = (value: unknown): TestResults | undefined => {
  if (resultsProblem(value) !== undefined) return undefined;
  const { path, passed, failed, total, tests, error } = value as TestResults;
  return {
    path,
    passed,
    failed,
    total,
    tests: tests.map(readResult),
    error: typeof error === "string" ? shorten(error, MAX_MESSAGE_LENGTH) : null,
  };
};
