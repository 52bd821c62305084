import { shorten } from "../../tools/shorten.ts";
import type { EnvironmentSchema, TestDescription, TestParameter } from "../contract.ts";

/** For one test: a sentence or two. */
const MAX_TEST_LENGTH = 500;

/** Reserved for the line that says how many tests are left out. */
const LAST_LINE_LENGTH = 60;

const parameterOf = ([name, { type, default: value, description }]: [string, TestParameter]): string => {
  const kind = value === undefined ? type : `${type}, default ${JSON.stringify(value)}`;
  return `${name} (${kind})${description === undefined ? "" : ` ${description}`}`;
};

const lineOf = ({ path, description, parameters = {}, isSuite = false }: TestDescription): string => {
  const named = Object.entries(parameters).map(parameterOf);
  const about = [
    ...(description === undefined ? [] : [description]),
    ...(isSuite ? ["A suite, whose tests are known once it has run."] : []),
    ...(named.length === 0 ? [] : [`Parameters: ${named.join(", ")}.`]),
  ];
  const line = [`- ${path}`, ...(about.length === 0 ? [] : [about.join(" ")])].join(": ");
  return shorten(line.replace(/\s+/g, " "), MAX_TEST_LENGTH);
};

/** Describes each test in a line, for an agent or a person. Never longer than `maxLength`. */
export const describeTests = ({ tests }: EnvironmentSchema, maxLength: number): string => {
  if (tests.length === 0) return "There are no tests.";
  const lines = [tests.length === 1 ? "There is 1 test:" : `There are ${tests.length} tests:`];
  let room = maxLength - LAST_LINE_LENGTH;
  for (const test of tests) {
    const line = lineOf(test);
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  const leftOut = tests.length - (lines.length - 1);
  if (leftOut > 0) lines.push(`And ${leftOut} more, which are left out here.`);
  return lines.join("\n");
};
