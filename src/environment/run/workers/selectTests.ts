import { TestRequestError } from "../../../errors.ts";
import type { ParameterValues, TestDescription } from "../../contract.ts";
import { givenProblem } from "../../definition/parameters.ts";
import { asksFor, nearestPaths, noTestPath, testPathProblem } from "../../definition/testPath.ts";
import { DEFAULT_SUITE_TIMEOUT_MS, DEFAULT_TIMEOUT_MS } from "../../limits.ts";
import type { EnvironmentOutline } from "../../worker/messages.ts";

/** A test or a suite to run. */
export interface SelectedTest {
  readonly path: string;
  readonly isSuite: boolean;
  readonly timeoutMs: number;
}

export interface Selection {
  readonly tests: readonly SelectedTest[];
  /** The requested path. It also selects among the results of suites. */
  readonly asked: string;
}

/** The error for a path that selects no test. */
export const unknownPath = (asked: string, paths: readonly string[]): TestRequestError =>
  new TestRequestError(
    `There is no test ${JSON.stringify(asked)}, and none whose path begins with it.`,
    404,
    nearestPaths(asked, paths),
  );

const isWithin = (asked: string, { path, isSuite }: TestDescription): boolean =>
  asksFor(asked, path) || (isSuite === true && asked.startsWith(`${path}/`));

const checkParameters = (tests: readonly TestDescription[], given: ParameterValues): void => {
  const declared = new Set(tests.flatMap(({ parameters = {} }) => Object.keys(parameters)));
  const unknown = Object.keys(given).find((name) => !declared.has(name));
  if (unknown !== undefined)
    throw new TestRequestError(
      `There is no parameter ${JSON.stringify(unknown.slice(0, 100))}. ${declared.size === 0 ? "The requested tests take none." : `Expected one of: ${[...declared].slice(0, 20).join(", ")}.`}`,
      400,
    );
  for (const { path, parameters = {} } of tests) {
    const problem = givenProblem(parameters, given);
    if (problem !== undefined)
      throw new TestRequestError(`The test ${JSON.stringify(path)} ${problem}.`, 400);
  }
};

/** The tests that a path selects. Throws a `TestRequestError` if there are none, or if the parameters do not fit them. */
export const selectTests = (
  { schema, timeLimits, timeoutMs }: EnvironmentOutline,
  asked: string,
  parameters: ParameterValues,
): Selection => {
  const problem = asked === "" ? undefined : testPathProblem(asked);
  if (problem !== undefined) throw noTestPath(asked, problem);
  const found = schema.tests.filter((test) => isWithin(asked, test));
  if (found.length === 0)
    throw unknownPath(
      asked,
      schema.tests.map(({ path }) => path),
    );
  checkParameters(found, parameters);
  const limitOf = ({ path, isSuite }: TestDescription): number =>
    (Object.hasOwn(timeLimits, path) ? timeLimits[path] : undefined) ??
    timeoutMs ??
    (isSuite ? DEFAULT_SUITE_TIMEOUT_MS : DEFAULT_TIMEOUT_MS);
  const tests = found.map((test) => ({
    path: test.path,
    isSuite: test.isSuite === true,
    timeoutMs: limitOf(test),
  }));
  return { tests, asked };
};
