import {
  anyText,
  type Check,
  callback,
  milliseconds,
  problemOf,
  unknownMember,
} from "../../options/checks/checks.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { MAX_BODY_BYTES, MAX_TESTS } from "../limits.ts";
import { checkSuite } from "../suites/checkSuite.ts";
import type { EnvironmentDefinition } from "./definition.ts";
import { parametersProblem } from "./parameters.ts";
import { schemaOf } from "./schemaOf.ts";
import { testPathProblem } from "./testPath.ts";

const MAX_CONCURRENCY = 64;

export const concurrency: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_CONCURRENCY
    ? undefined
    : `must be a whole number from 1 to ${MAX_CONCURRENCY}`;

export const fileList: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string" && item !== "")
    ? undefined
    : "must be a list of paths, relative to the folder; leave it out to copy everything";

/** Checks the members of an object: unknown ones are errors, because a mistyped one would silently do nothing. */
export const membersProblem = (
  value: object,
  checks: Readonly<Record<string, Check>>,
): string | undefined => {
  const unknown = unknownMember(value, checks);
  if (unknown !== undefined)
    return `has \`${unknown.slice(0, 100)}\`, which is unknown; expected one of: ${Object.keys(checks).join(", ")}`;
  for (const [key, check] of Object.entries(checks)) {
    const member: unknown = Reflect.get(value, key);
    const problem = member === undefined ? undefined : problemOf(check, member);
    if (problem !== undefined) return `has \`${key}\`, which ${problem}`;
  }
  return undefined;
};

const TEST: Readonly<Record<string, Check>> = {
  description: anyText,
  timeoutMs: milliseconds,
  run: callback,
  parameters: (value) => {
    const problem = parametersProblem(value);
    return problem && `is invalid: ${problem}`;
  },
};

const testProblem = (path: string, test: unknown): string | undefined => {
  if (typeof test === "function") return undefined;
  if (!isObject(test)) return "must be a function, { description, parameters, timeoutMs, run } or suite({…})";
  if (test["type"] === "suite") return suiteProblem(path, test["definition"]);
  return membersProblem(test, TEST) ?? (test["run"] === undefined ? "has no `run`" : undefined);
};

/** Shorter than that of a test: the paths of a suite's tests begin with it. */
const MAX_SUITE_PATH_LENGTH = 100;

const suiteProblem = (path: string, definition: unknown): string | undefined => {
  if (path.length > MAX_SUITE_PATH_LENGTH)
    return `has more than ${MAX_SUITE_PATH_LENGTH} characters, too many for a suite`;
  const problem = checkSuite(definition);
  return problem && `is a suite that cannot be run: ${problem.replace(/\.$/, "")}`;
};

/** A path that is a prefix of another one would select both. */
const overlap = (paths: readonly string[]): string | undefined => {
  const known = new Set(paths);
  for (const path of paths) {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      const beginning = path.slice(0, end);
      if (known.has(beginning))
        return `${JSON.stringify(beginning)} is a test, and also the beginning of ${JSON.stringify(path)}: rename it, for example to ${JSON.stringify(`${beginning}/…`)}`;
    }
  }
  return undefined;
};

const tests: Check = (value) => {
  if (!isObject(value)) return "must be an object: tests by their paths";
  const paths = Object.keys(value);
  if (paths.length === 0) return "has no test";
  if (paths.length > MAX_TESTS) return `has more than ${MAX_TESTS} tests`;
  for (const path of paths) {
    const name = JSON.stringify(path.slice(0, 100));
    const problem = testPathProblem(path);
    if (problem !== undefined) return `has ${name}, which is not the path of a test: it ${problem}`;
    const wrong = testProblem(path, value[path]);
    if (wrong !== undefined) return `has ${name}, which ${wrong}`;
  }
  return overlap(paths);
};

const DEFINITION: Readonly<Record<string, Check>> = {
  tests,
  setup: callback,
  teardown: callback,
  files: fileList,
  timeoutMs: milliseconds,
  concurrency,
};

/** What is wrong with a definition, as the end of a sentence about it; `undefined` if it is right. */
export const definitionProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "is not what defineEnvironment({ tests: {…} }) returns";
  const problem = membersProblem(value, DEFINITION);
  if (problem !== undefined) return problem;
  if (value["tests"] === undefined) return "has no `tests`";
  const bytes = Buffer.byteLength(JSON.stringify(schemaOf(value as unknown as EnvironmentDefinition)));
  return bytes > MAX_BODY_BYTES
    ? `needs ${bytes} bytes to describe its tests, more than ${MAX_BODY_BYTES}: shorten their descriptions, or split the environment`
    : undefined;
};
