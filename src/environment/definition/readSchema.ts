import { shorten } from "../../tools/shorten.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { EnvironmentSchema, TestDescription, TestParameters } from "../contract.ts";
import { MAX_MESSAGE_LENGTH, MAX_TESTS } from "../limits.ts";
import { parametersProblem } from "./parameters.ts";
import { testPathProblem } from "./testPath.ts";

const descriptionProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "is not an object";
  const { path, description, parameters, isSuite } = value;
  const problem = typeof path === "string" ? testPathProblem(path) : "is not a string";
  if (problem !== undefined) return `has a "path" that ${problem}`;
  if (description !== undefined && description !== null && typeof description !== "string")
    return 'has a "description" that is not a string';
  if (isSuite !== undefined && isSuite !== null && typeof isSuite !== "boolean")
    return 'has an "isSuite" that is neither true nor false';
  if (parameters === undefined || parameters === null) return undefined;
  const wrong = parametersProblem(parameters);
  return wrong === undefined ? undefined : `has invalid "parameters": ${wrong}`;
};

/** What is wrong with a description of an environment; `undefined` if it is right. */
export const schemaProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "it is not an object";
  const { tests } = value;
  if (!Array.isArray(tests)) return '"tests" is not a list';
  if (tests.length > MAX_TESTS) return `"tests" has more than ${MAX_TESTS} items`;
  for (const [index, test] of tests.entries()) {
    const problem = descriptionProblem(test);
    if (problem !== undefined) return `item ${index} of "tests" ${problem}`;
  }
  return undefined;
};

const readParameters = (parameters: TestParameters): TestParameters =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, { type, description, default: value }]) => [
      name,
      {
        type,
        ...(typeof description === "string" && { description: shorten(description, MAX_MESSAGE_LENGTH) }),
        ...(value !== undefined && { default: value }),
      },
    ]),
  );

const readDescription = ({ path, description, parameters, isSuite }: TestDescription): TestDescription => ({
  path,
  ...(typeof description === "string" && { description: shorten(description, MAX_MESSAGE_LENGTH) }),
  ...(isObject(parameters) &&
    Object.keys(parameters).length > 0 && { parameters: readParameters(parameters) }),
  ...(isSuite === true && { isSuite }),
});

/** The known members of a description of an environment; `undefined` if the value is not one. */
export const readSchema = (value: unknown): EnvironmentSchema | undefined =>
  schemaProblem(value) === undefined
    ? { tests: (value as EnvironmentSchema).tests.map(readDescription) }
    : undefined;
