import { inspect, stripVTControlCharacters } from "node:util";
import { shorten } from "../../tools/shorten.ts";
import { MAX_MESSAGE_LENGTH } from "../limits.ts";

const PLAIN_NAMES = ["Error", "AssertionError"];

/** Causes may form a cycle. */
const MAX_CAUSES = 5;

const messageOf = (error: Error, causes = 0): string => {
  const { name, message, cause } = error;
  const first = PLAIN_NAMES.includes(name) && message !== "" ? message : `${name}: ${message}`;
  return cause instanceof Error && causes < MAX_CAUSES
    ? `${first}\nbecause of ${messageOf(cause, causes + 1)}`
    : first;
};

const describe = (reason: unknown): string => {
  try {
    if (reason instanceof Error) return messageOf(reason);
    return typeof reason === "string" ? reason : inspect(reason, { depth: 3, maxStringLength: 1000 });
  } catch {
    return "it threw something that cannot be described";
  }
};

/** Why a test failed, from the value that it threw. */
export const failureMessage = (reason: unknown): string =>
  shorten(stripVTControlCharacters(describe(reason)).trim(), MAX_MESSAGE_LENGTH) ||
  "it threw an error without a message";
