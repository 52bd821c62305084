import { type Check, names, text } from "./checks.ts";

/** Refuses an empty list: the engine would choose a network itself. */
export const network: Check = (value) =>
  text(value) === undefined || (names(value) === undefined && (value as readonly string[]).length > 0)
    ? undefined
    : 'must be the name of a network, e.g. "none", or a list of them';

/** An amount in the notation of container engines. */
export const memory: Check = (value) =>
  typeof value === "string" && /^\d+(\.\d+)?([bkmgtp]i?b?)?$/i.test(value)
    ? undefined
    : 'must be an amount of memory, e.g. "4g" or "512m"';

export const absolutePaths: Check = (value) =>
  names(value) === undefined && (value as readonly string[]).every((path) => path.startsWith("/"))
    ? undefined
    : "must be a list of absolute paths";
