import { shorten } from "../../tools/shorten.ts";
import type { EnvironmentSchema, TestResults } from "../contract.ts";

/** Agents show their model the structured content rather than the text: it must fit into a conversation. */
const MAX_CONTENT_LENGTH = 40_000;

/** For a message or a description, if not everything fits. */
const MAX_CROWDED_TEXT_LENGTH = 500;

/** Set if some tests were left out. The counts include them. */
interface LeftOut {
  readonly testsLeftOut?: number;
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length + 1;

/** The same value, with every text in it shortened. */
const withShortTexts = <Value>(value: Value, maxLength: number): Value =>
  JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === "string" ? shorten(part, maxLength) : part)),
  );

/** As many of the tests as fit, the first ones first. */
const withFittingTests = <Content extends { readonly tests: readonly unknown[] }>(
  content: Content,
): Content & LeftOut => {
  let room = MAX_CONTENT_LENGTH - lengthOf({ ...content, tests: [], testsLeftOut: content.tests.length });
  const end = content.tests.findIndex((test) => {
    room -= lengthOf(test);
    return room < 0;
  });
  if (end === -1) return content;
  return { ...content, tests: content.tests.slice(0, end), testsLeftOut: content.tests.length - end };
};

/** Texts are shortened before tests are left out, and nothing is changed if everything fits. */
const bounded = <Content extends { readonly tests: readonly unknown[] }>(
  content: Content,
): Content & LeftOut => {
  const whole = withShortTexts(content, MAX_CONTENT_LENGTH);
  return lengthOf(whole) <= MAX_CONTENT_LENGTH
    ? whole
    : withFittingTests(withShortTexts(content, MAX_CROWDED_TEXT_LENGTH));
};

/** The description of the tests, as far as it fits into a conversation. */
export const boundedSchema = (schema: EnvironmentSchema): EnvironmentSchema & LeftOut => bounded(schema);

/** Results, as far as they fit into a conversation. Failed tests come first: they matter more. */
export const boundedResults = (results: TestResults): TestResults & LeftOut =>
  bounded({
    ...results,
    tests: results.tests.toSorted((one, other) => Number(one.passed) - Number(other.passed)),
  });
