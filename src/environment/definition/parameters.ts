import { isObject } from "../../tools/values/predicates.ts";
import type { ParameterValues, TestParameter, TestParameters } from "../contract.ts";

const TYPES = ["string", "number", "boolean"];
const MAX_PARAMETERS = 100;
const NAME = /^[A-Za-z_][\w-]{0,99}$/;

const parameterProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return 'must be an object, e.g. { type: "string" }';
  const unknown = Object.keys(value).find((key) => !["type", "description", "default"].includes(key));
  if (unknown !== undefined) return `has ${JSON.stringify(unknown)}, which a parameter does not have`;
  const { type, description, default: fallback } = value;
  if (typeof type !== "string" || !TYPES.includes(type)) return `needs a \`type\`: ${TYPES.join(", ")}`;
  if (description !== undefined && typeof description !== "string")
    return "has a `description` that is not a string";
  if (fallback !== undefined && !isOfType(fallback, type)) return `has a \`default\` that is no ${type}`;
  return undefined;
};

const isOfType = (value: unknown, type: string): boolean =>
  typeof value === type && (type !== "number" || Number.isFinite(value));

/** Says what is wrong with the parameters that a test declares; nothing, if they are right. */
export const parametersProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "`parameters` must be an object";
  const entries = Object.entries(value);
  if (entries.length > MAX_PARAMETERS) return `there are more than ${MAX_PARAMETERS}`;
  for (const [name, parameter] of entries) {
    if (!NAME.test(name))
      return `the name ${JSON.stringify(name.slice(0, 100))} has something else than letters, digits, _ and - in it, or is too long`;
    const problem = parameterProblem(parameter);
    if (problem !== undefined) return `the parameter ${name} ${problem}`;
  }
  return undefined;
};

/** Says what is wrong with values that were passed for parameters, before it is known whose they are. */
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

/** Says what a test lacks, or gets of the wrong type; nothing, if it can be run with these values. */
export const givenProblem = (declared: TestParameters, given: ParameterValues): string | undefined => {
  for (const [name, parameter] of Object.entries(declared)) {
    const value = givenValue(given, name) ?? parameter.default;
    if (value === undefined) return missing(name, parameter);
    if (!isOfType(value, parameter.type))
      return `takes a ${parameter.type} as parameter ${JSON.stringify(name)}, not a ${typeof value}`;
  }
  return undefined;
};

/** What a test gets: values of its own parameters only, and its defaults for what is not given. */
export const valuesFor = (declared: TestParameters, given: ParameterValues): ParameterValues =>
  Object.fromEntries(
    Object.entries(declared).map(([name, parameter]) => [
      name,
      givenValue(given, name) ?? parameter.default ?? "",
    ]),
  );
