import { isObject } from "../../tools/values/predicates.ts";
import { type Check, milliseconds, text } from "./checks.ts";
import { isOptionsObject } from "./valueKind.ts";

const isPublic = (value: unknown): boolean =>
  isObject(value) && typeof value["public"] === "string" && Object.keys(value).length === 1;

const isEnvValue = (value: unknown): boolean => {
  if (value === undefined || typeof value === "string" || typeof value === "function") return true;
  if (!isObject(value)) return false;
  const { command, timeoutMs, ...others } = value;
  if (command === undefined) return isPublic(value);
  const isTime = timeoutMs === undefined || milliseconds(timeoutMs) === undefined;
  return text(command) === undefined && isTime && Object.keys(others).length === 0;
};

/** Values may be secrets, so a problem names only the key. */
export const env: Check = (value) => {
  if (!isOptionsObject(value)) return "must be an object";
  const wrong = Object.keys(value).find((key) => !isEnvValue(value[key]));
  return (
    wrong &&
    `the value of ${wrong} must be a string, a function that returns one, { command: "…", timeoutMs?: … } or { public: "…" }`
  );
};

/** Env vars of a single command, which need their values at once. */
export const commandEnv: Check = (value) => {
  if (!isOptionsObject(value)) return "must be an object";
  const wrong = Object.keys(value).find((key) => typeof value[key] !== "string" && !isPublic(value[key]));
  return wrong && `the value of ${wrong} must be a string, or { public: "…" }`;
};
