import { isObject } from "../../tools/values/predicates.ts";
import { type Check, callback, flag, nested, oneOf } from "./checks.ts";

export const signal: Check = (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal");

export const name: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && !/[\r\n]/.test(value)
    ? undefined
    : "must be a non-empty string on one line";

/** A blank prompt is most often a variable that is not set. */
export const prompt: Check = (value) =>
  typeof value === "string" && value.trim() !== "" ? undefined : "must be a non-empty string";

export const promptArgs: Check = (value) => {
  if (!isObject(value)) return "must be an object";
  const wrong = Object.entries(value).find(
    ([, item]) => !["string", "number", "boolean"].includes(typeof item),
  );
  return wrong && `the value of ${wrong[0]} must be a string, a number or a boolean`;
};

const loggingOf = (checks: Record<string, Check>): Check =>
  nested("logging", { type: oneOf(["file", "stdout"]), verbose: flag, quiet: flag, ...checks }, ["type"]);
export const logging = loggingOf({ onAgentStreamEvent: callback });
/** For calls without an agent: they have no agent stream events. */
export const setupLogging = loggingOf({});

export const execInput: Check = (value) =>
  typeof value === "string" ||
  value instanceof Uint8Array ||
  (typeof value === "object" && value !== null && Symbol.asyncIterator in value)
    ? undefined
    : "must be a string, bytes, or an async iterable of bytes";
