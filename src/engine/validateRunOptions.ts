import { InvalidOptionsError } from "../errors.ts";
import type { RunOptions } from "../runOptions.ts";

type Check = (value: unknown) => string | undefined;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** The longest time that a timer can hold. */
const MAX_TIMER_SECONDS = 2_147_483;

const text: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a non-empty string";
const anyText: Check = (value) => (typeof value === "string" ? undefined : "must be a string");
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? undefined
    : "must be a list of strings";
const seconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_SECONDS
    ? undefined
    : `must be a number of seconds, above 0 and at most ${MAX_TIMER_SECONDS}`;
const milliseconds: Check = (value) =>
  typeof value === "number" && value > 0 && value <= MAX_TIMER_SECONDS * 1000
    ? undefined
    : "must be a number of milliseconds above 0";
const count: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 ? undefined : "must be a whole number, 1 or more";

const agent: Check = (value) =>
  isRecord(value) && typeof value["buildCommand"] === "function" && typeof value["parseLine"] === "function"
    ? undefined
    : 'must be an agent provider, e.g. command("sh ./agent.sh")';
const sandbox: Check = (value) => {
  if (isRecord(value) && value["type"] === "none") {
    return "the no-sandbox provider is for interactive sessions only: an unattended agent needs a sandbox";
  }
  return isRecord(value) && ["bind-mount", "isolated"].includes(value["type"] as string)
    ? undefined
    : 'must be a sandbox provider, e.g. docker() from "sanddune/sandboxes/docker"';
};
const completionSignal: Check = (value) => {
  const signals = Array.isArray(value) ? value : [value];
  return signals.length > 0 && signals.every((signal) => text(signal) === undefined)
    ? undefined
    : "must be a non-empty string, or a list of them";
};
const signal: Check = (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal");

/** Checks the members of an object: unknown ones are errors, because a mistyped option would silently do nothing. */
const members = (path: string, value: unknown, checks: Record<string, Check>): void => {
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

const nested =
  (path: string, checks: Record<string, Check>): Check =>
  (value) => {
    members(path, value, checks);
    return undefined;
  };

const branchStrategy: Check = (value) => {
  const type = isRecord(value) ? value["type"] : undefined;
  if (type === "head" || type === "merge-to-head") members("branchStrategy", value, { type: text });
  else if (type === "branch") {
    members("branchStrategy", value, { type: text, branch: anyText, from: text });
    if ((value as { branch?: unknown }).branch === undefined) return "`branch` needs the branch's name";
  } else return '`type` must be "head", "merge-to-head" or "branch"';
  return undefined;
};

const CHECKS: Record<keyof RunOptions, Check> = {
  agent,
  sandbox,
  prompt: anyText,
  promptFile: text,
  cwd: text,
  branchStrategy,
  maxIterations: count,
  completionSignal,
  idleTimeoutSeconds: seconds,
  completionTimeoutSeconds: seconds,
  copyToWorktree: texts,
  timeouts: nested("timeouts", { copyToWorktreeMs: milliseconds }),
  signal,
};

/** Rejects what the types would have rejected, for callers that have none, before anything is created. */
export const validateRunOptions = (options: RunOptions): void => {
  members("options", options, CHECKS);
  for (const required of ["agent", "sandbox"] as const) {
    const problem = CHECKS[required](options[required]);
    if (problem !== undefined) throw new InvalidOptionsError(required, problem);
  }
  if (options.prompt !== undefined && options.promptFile !== undefined) {
    throw new InvalidOptionsError("promptFile", "`prompt` and `promptFile` exclude each other: pass one.");
  }
  if (options.prompt === undefined && options.promptFile === undefined) {
    throw new InvalidOptionsError(
      "prompt",
      "pass `prompt` with the text, or `promptFile` with a file that holds it.",
    );
  }
};
