import { isObject } from "../../tools/values/predicates.ts";

/** A value as TOML. Strings, and lists of them, are written as in JSON. */
const tomlOf = (value: unknown): string => {
  if (!isObject(value)) return JSON.stringify(value);
  const given = Object.entries(value).filter(([, member]) => member !== undefined);
  const members = given.map(([key, member]) => `${JSON.stringify(key)}=${tomlOf(member)}`);
  return `{${members.join(",")}}`;
};

/** The arguments that set an entry of the configuration for one run. */
export const configArguments = (key: string, value: unknown): string[] => ["-c", `${key}=${tomlOf(value)}`];
