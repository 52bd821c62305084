import { isObject } from "../../tools/values/predicates.ts";
import type { ParameterValues, TestParameter, TestParameters } from "../contract.ts";

const TYPES = ["string", "number", "boolean"];
const MAX_PARAMETERS = 100;
const NAME = /^[A-Za-z_][\w-]{0,99}$/;

const parameterProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return 'must be an object, e.g. { type: "string" }';
  const unknown = Object.keys(value).find((key) => !["type", "description", "default"].includes(key));
  if (unknown !== undefined) return `has an unknown member ${JSON.stringify(unknown)}`;
  const { type, description, default: fallback } = value;
  if (typeof type !== "string" || !TYPES.includes(type)) return `needs a \`type\`: ${TYPES.join(", ")}`;
  if (description !== undefined && typeof description !== "string")
    return "has a `description` that is not a string";
  if (fallback !== undefined && !isOfType(fallback, type)) return `has a \`default\` that is not a ${type}`;
  return undefined;
};

const isOfType = (value: unknown, type: string): boolean =>
  typeof value === type && (type !== "number" || Number.isFinite(value));

/** What is wrong with the parameters that a test declares; `undefined` if they are right. */
export const parametersProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "`parameters` must be an object";
  const entries = Object.entries(value);
  if (entries.length > MAX_PARAMETERS) return `there are more than ${MAX_PARAMETERS}`;
  for (const [name, parameter] of entries) {
    if (!NAME.test(name))
      return `the name ${JSON.stringify(name.slice(0, 100))} must have only letters, digits, _ and -, and at most 100 characters`;
    const problem = parameterProblem(parameter);
    if (problem !== undefined) return `the parameter ${name} ${problem}`;
  }
  return undefined;
};

/** What is wrong with values that a caller passes, whatever the parameters are; `undefined` if they are right. */
export const valuesProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return '"parameters" must be an object, e.g. { "name": "value" }.';
  const wrong = Object.keys(value).find((name) => !TYPES.includes(typeof value[name]));
  return wrong === undefined
    ? undefined
    : `The parameter ${JSON.stringify(wrong.slice(0, 100))} must be a string, a number, true or false.`;
};

const givenValue = (given: ParameterValues, name: string): string | number | boolean | undefined =>
  Object.hasOwn(given, name) ? given[name] : undefined;

const missing = (name: string, { type }: TestParameter): string =>
  `needs the parameter ${JSON.stringify(name)}: pass { "parameters": { ${JSON.stringify(name)}: … } } with a ${type}`;

/** Which parameter of a test is missing or has the wrong type; `undefined` if the test can run with these values. */
export const givenProblem = (declared: TestParameters, given: ParameterValues): string | undefined => {
  for (const [name, parameter] of Object.entries(declared)) {
    const value = givenValue(given, name) ?? parameter.default;
    if (value === undefined) return missing(name, parameter);
    if (!isOfType(value, parameter.type))
      return `takes a ${parameter.type} as parameter ${JSON.stringify(name)}, not a ${typeof value}`;
  }
  return undefined;
};

/** The values for a test: those of its own parameters only, with its defaults. */
export const valuesFor = (declared: TestParameters, given: ParameterValues): ParameterValues =>
  Object.fromEntries(
    Object.entries(declared).map(([name, parameter]) => [
      name,
      givenValue(given, name) ?? parameter.default ?? "",
    ]),
  );
