import { shorten } from "../../tools/shorten.ts";
import type { TestResult, TestResults } from "../contract.ts";
import { MAX_BODY_BYTES, MAX_MESSAGE_LENGTH } from "../limits.ts";

/** The lengths that messages are shortened to, until everything fits. */
const MESSAGE_LENGTHS = [1000, 300, 100];

/** Room for the line around the results, and for the note that some are left out. */
const MARGIN_BYTES = 4096;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

const withMessages = (results: TestResults, length: number): TestResults => ({
  ...results,
  tests: results.tests.map((test) =>
    test.message === undefined ? test : { ...test, message: shorten(test.message, length) },
  ),
});

/** Failed tests first: they matter more. */
const asManyAsFit = (results: TestResults, maxBytes: number): TestResults => {
  let room = maxBytes - bytesOf({ ...results, tests: [] });
  const kept = new Set<TestResult>();
  for (const test of results.tests.toSorted((one, other) => Number(one.passed) - Number(other.passed))) {
    room -= bytesOf(test);
    if (room < 0) break;
    kept.add(test);
  }
  const tests = results.tests.filter((test) => kept.has(test));
  const failuresLeftOut = results.failed - tests.filter(({ passed }) => !passed).length;
  if (failuresLeftOut === 0) return { ...results, tests };
  const note = `${failuresLeftOut} failed tests are left out: the answer would be too large. Ask for fewer tests at a time.`;
  return { ...results, tests, error: results.error === null ? note : `${results.error} ${note}` };
};

/**
 * Results that fit into an answer. Messages are shortened first; then passed tests are left out of the list; then failed tests,
 * which `error` says. The counts stay correct.
 */
export const boundResults = (results: TestResults, maxBytes = MAX_BODY_BYTES): TestResults => {
  const limit = maxBytes - MARGIN_BYTES;
  const whole = withMessages(
    { ...results, error: results.error && shorten(results.error, MAX_MESSAGE_LENGTH) },
    MAX_MESSAGE_LENGTH,
  );
  const shorter = [MAX_MESSAGE_LENGTH, ...MESSAGE_LENGTHS].map((length) => () => withMessages(whole, length));
  for (const make of shorter) {
    const made = make();
    if (bytesOf(made) <= limit) return made;
  }
  return asManyAsFit(withMessages(whole, MESSAGE_LENGTHS.at(-1) ?? 0), limit);
};
