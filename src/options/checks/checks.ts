import { InvalidOptionsError } from "../../errors/input.ts";
import { nearest } from "../../tools/nearest.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import { isOptionsObject, kindOf } from "./valueKind.ts";

/**
 * Returns the problem of a value, or nothing if the value is right. If the problem begins with "must be", the error
 * message also names the kind of the value.
 */
export type Check = (value: unknown) => string | undefined;

/** A check for each option. The compiler refuses an option without a check. */
export type Checks<Options> = Record<keyof Options, Check>;

type AnyChecks = Readonly<Record<string, Check>>;

const MAX_TIMER_SECONDS = Math.floor(MAX_TIMER_MS / 1000);

export const text: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && !value.includes("\0")
    ? undefined
    : "must be a non-empty string";
export const anyText: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
export const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? undefined
    : "must be a list of strings";
/** A list in which an empty string is a mistake. */
export const names: Check = (value) =>
  Array.isArray(value) && value.every((item) => text(item) === undefined)
    ? undefined
    : "must be a list of non-empty strings";
export const textByName: Check = (value) =>
  isOptionsObject(value) && Object.values(value).every((item) => typeof item === "string")
    ? undefined
    : "must be an object whose values are strings";
export const seconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_SECONDS
    ? undefined
    : `must be a number of seconds, above 0 and at most ${MAX_TIMER_SECONDS}`;
export const milliseconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_MS
    ? undefined
    : `must be a number of milliseconds, above 0 and at most ${MAX_TIMER_MS}`;
export const count: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number, 1 or more";
export const countOrNone: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number, 0 or more";
export const aboveZero: Check = (value) =>
  Number.isFinite(value) && (value as number) > 0 ? undefined : "must be a number above 0";
export const nonNegative: Check = (value) =>
  Number.isFinite(value) && (value as number) >= 0 ? undefined : "must be a number, 0 or more";
export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
export const callback: Check = (value) => (typeof value === "function" ? undefined : "must be a function");

/** Suggests the known word closest to the given one; an empty string if none is close. */
export const didYouMean = (given: unknown, known: readonly string[]): string => {
  const meant = typeof given === "string" ? nearest(given, known) : undefined;
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
};

export const oneOf = (choices: readonly (string | boolean)[]): Check => {
  const words = choices.map(String);
  return (value) =>
    choices.includes(value as string)
      ? undefined
      : `expected one of: ${words.join(", ")}; got ${kindOf(value)}.${didYouMean(value, words)}`;
};

/** The problem of a value, with the kind of the value where that helps. */
export const problemOf = (check: Check, value: unknown): string | undefined => {
  const problem = check(value);
  return problem?.startsWith("must be") ? `${problem}; got ${kindOf(value)}` : problem;
};

/** Throws an `InvalidOptionsError` with this name if the value is wrong. */
export const checkValue = (name: string, value: unknown, check: Check): void => {
  const problem = problemOf(check, value);
  if (problem !== undefined) throw new InvalidOptionsError(name, problem);
};

/** The first enumerable member without a check. Inherited members count, because reading an option finds them too. */
export const unknownMember = (value: object, checks: AnyChecks): string | undefined => {
  for (const name in value) if (!Object.hasOwn(checks, name)) return name;
  return undefined;
};

const unknownProblem = (name: string, checks: AnyChecks): string => {
  const known = Object.keys(checks);
  return `there is no such option; expected one of: ${known.join(", ")}.${didYouMean(name, known)}`;
};

/**
 * Checks the members of an object and returns those that are set. An unknown member is an error, because a mistyped
 * option would silently do nothing.
 */
export const members = (
  path: string,
  value: unknown,
  checks: AnyChecks,
  required: readonly string[] = [],
): Record<string, unknown> => {
  if (!isOptionsObject(value)) throw new InvalidOptionsError(path, `must be an object; got ${kindOf(value)}`);
  const nameOf = (member: string) => (path === "options" ? member : `${path}.${member}`);
  const unknown = unknownMember(value, checks);
  if (unknown !== undefined) {
    throw new InvalidOptionsError(nameOf(unknown), unknownProblem(unknown, checks), Object.keys(checks));
  }
  const checked: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    const member = value[name];
    if (member !== undefined || required.includes(name)) checkValue(nameOf(name), member, check);
    if (member !== undefined) checked[name] = member;
  }
  return checked;
};

export const nested =
  (path: string, checks: AnyChecks, required: readonly string[] = []): Check =>
  (value) => {
    members(path, value, checks, required);
    return undefined;
  };

/** A list of objects that have the same members. */
export const listOf =
  (path: string, checks: AnyChecks, required: readonly string[] = []): Check =>
  (value) => {
    if (!Array.isArray(value)) return "must be a list of objects";
    for (const [index, item] of value.entries()) members(`${path}[${index}]`, item, checks, required);
    return undefined;
  };

/**
 * Checks the options of a factory and returns a frozen copy, which later changes to the caller's object do not affect.
 * Throws an `InvalidOptionsError` that names the wrong option.
 */
export const checkedOptions = <Options extends object>(
  options: Options,
  checks: Checks<NoInfer<Options>>,
  required: readonly (keyof Options & string)[] = [],
): Options => Object.freeze(members("options", options, checks, required)) as Options;
