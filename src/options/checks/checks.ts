import { InvalidOptionsError } from "../../errors/input.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import { nearest } from "./nearest.ts";
import { isOptionsObject, kindOf } from "./valueKind.ts";

/**
 * Says what is wrong with a value; nothing, if it is right. A problem that begins with "must be" is completed with the
 * kind of the value.
 */
export type Check = (value: unknown) => string | undefined;

/** A check for every option. The type makes a new option without a check an error of the compiler. */
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
/** A list in which an empty string could not be meant. */
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

/** A sentence with the known word that was probably meant; nothing, if none is near. */
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

/** What a check says about a value. */
export const problemOf = (check: Check, value: unknown): string | undefined => {
  const problem = check(value);
  return problem?.startsWith("must be") ? `${problem}; got ${kindOf(value)}` : problem;
};

/** Checks a value that has a name. */
export const checkValue = (name: string, value: unknown, check: Check): void => {
  const problem = problemOf(check, value);
  if (problem !== undefined) throw new InvalidOptionsError(name, problem);
};

/** An enumerable member that no check is for, inherited ones included: reading an option finds those, too. */
export const unknownMember = (value: object, checks: AnyChecks): string | undefined => {
  for (const name in value) if (!Object.hasOwn(checks, name)) return name;
  return undefined;
};

/** The problem of a member that no check is for. */
const unknownProblem = (name: string, checks: AnyChecks): string => {
  const known = Object.keys(checks);
  return `there is no such option; expected one of: ${known.join(", ")}.${didYouMean(name, known)}`;
};

/**
 * Checks the members of an object, and gives those that it has, each as it was checked. Unknown ones are errors, because a
 * mistyped option would silently do nothing.
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
 * The options of a factory, checked: throws an `InvalidOptionsError` that names the wrong one. They are a copy, which
 * later changes of the caller's object do not reach.
 */
export const checkedOptions = <Options extends object>(
  options: Options,
  checks: Checks<NoInfer<Options>>,
  required: readonly (keyof Options & string)[] = [],
): Options => Object.freeze(members("options", options, checks, required)) as Options;
