import { InvalidOptionsError } from "../errors.ts";

/** Says what is wrong with a value; nothing, if it is right. */
export type Check = (value: unknown) => string | undefined;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The longest time that a timer can hold. */
const MAX_TIMER_SECONDS = 2_147_483;

export const text: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a non-empty string";
export const anyText: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
export const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? undefined
    : "must be a list of strings";
export const seconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_SECONDS
    ? undefined
    : `must be a number of seconds, above 0 and at most ${MAX_TIMER_SECONDS}`;
export const milliseconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_SECONDS * 1000
    ? undefined
    : `must be a number of milliseconds, above 0 and at most ${MAX_TIMER_SECONDS * 1000}`;
export const count: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number, 1 or more";

export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
export const callback: Check = (value) => (typeof value === "function" ? undefined : "must be a function");

/** Checks the members of an object: unknown ones are errors, because a mistyped option would silently do nothing. */
export const members = (path: string, value: unknown, checks: Record<string, Check>): void => {
  if (!isRecord(value)) throw new InvalidOptionsError(path, "must be an object");
  for (const [key, member] of Object.entries(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    const name = path === "options" ? key : `${path}.${key}`;
    if (check === undefined) {
      throw new InvalidOptionsError(
        name,
        `there is no such option. Known are: ${Object.keys(checks).join(", ")}.`,
      );
    }
    const problem = member === undefined ? undefined : check(member);
    if (problem !== undefined) throw new InvalidOptionsError(name, problem);
  }
};

export const nested =
  (path: string, checks: Record<string, Check>): Check =>
  (value) => {
    members(path, value, checks);
    return undefined;
  };
