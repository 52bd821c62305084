import { InvalidOptionsError } from "../errors.ts";
import type { RunOptions } from "../runOptions.ts";
import {
  anyText,
  type Check,
  callback,
  count,
  flag,
  isRecord,
  members,
  milliseconds,
  nested,
  seconds,
  text,
  texts,
} from "./optionChecks.ts";

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

const name: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && !/[\r\n]/.test(value)
    ? undefined
    : "must be a non-empty string on one line";

const promptArgs: Check = (value) => {
  if (!isRecord(value)) return "must be an object";
  const wrong = Object.entries(value).find(
    ([, item]) => !["string", "number", "boolean"].includes(typeof item),
  );
  return wrong && `the value of ${wrong[0]} must be a string, a number or a boolean`;
};

const isEnvValue = (value: unknown): boolean => {
  if (value === undefined || typeof value === "string" || typeof value === "function") return true;
  if (!isRecord(value)) return false;
  const { command, timeoutMs, ...others } = value;
  if (command === undefined) return typeof value["public"] === "string" && Object.keys(value).length === 1;
  const isTime = timeoutMs === undefined || milliseconds(timeoutMs) === undefined;
  return text(command) === undefined && isTime && Object.keys(others).length === 0;
};
/** Values may be secrets: only keys are named. */
const env: Check = (value) => {
  if (!isRecord(value)) return "must be an object";
  const wrong = Object.keys(value).find((key) => !isEnvValue(value[key]));
  return (
    wrong &&
    `the value of ${wrong} must be a string, a function that returns one, { command: "…", timeoutMs?: … } or { public: "…" }`
  );
};

const hookList =
  (path: string, checks: Record<string, Check>): Check =>
  (value) => {
    if (!Array.isArray(value)) return "must be a list of hooks";
    for (const [index, hook] of value.entries()) {
      members(`${path}[${index}]`, hook, checks);
      if (hook.command === undefined) return `hook ${index + 1} has no \`command\``;
    }
    return undefined;
  };
const HOST_HOOK = { command: text, timeoutMs: milliseconds };
const hooks: Check = (value) => {
  members("hooks", value, {
    host: nested("hooks.host", {
      onWorktreeReady: hookList("hooks.host.onWorktreeReady", HOST_HOOK),
      onSandboxReady: hookList("hooks.host.onSandboxReady", HOST_HOOK),
    }),
    sandbox: nested("hooks.sandbox", {
      onSandboxReady: hookList("hooks.sandbox.onSandboxReady", { ...HOST_HOOK, sudo: flag }),
    }),
  });
  return undefined;
};

const loggingType: Check = (value) =>
  value === "file" || value === "stdout" ? undefined : 'must be "file" or "stdout"';
const logging: Check = (value) => {
  members("logging", value, { type: loggingType, verbose: flag, onAgentStreamEvent: callback });
  return (value as { type?: unknown }).type === undefined ? '`type` must be "file" or "stdout"' : undefined;
};

const outputTag: Check = (value) =>
  typeof value === "string" && /^[A-Za-z][\w.-]*$/.test(value)
    ? undefined
    : "must be a tag name: a letter, then letters, digits, _, . and -";
const outputSchema: Check = (value) =>
  // Some libraries' schemas are functions.
  (isRecord(value) || typeof value === "function") && isRecord(Reflect.get(value, "~standard"))
    ? undefined
    : "must be a Standard Schema, e.g. of Zod, Valibot or ArkType";
const output: Check = (value) => {
  members("output", value, { tag: outputTag, schema: outputSchema });
  return (value as { tag?: unknown }).tag === undefined
    ? "needs a `tag`: use Output.object or Output.string"
    : undefined;
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
  promptArgs,
  name,
  cwd: text,
  branchStrategy,
  maxIterations: count,
  completionSignal,
  idleTimeoutSeconds: seconds,
  completionTimeoutSeconds: seconds,
  copyToWorktree: texts,
  hooks,
  env,
  logging,
  output,
  timeouts: nested("timeouts", { copyToWorktreeMs: milliseconds, promptExpansionMs: milliseconds }),
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
  for (const provider of ["agent", "sandbox"] as const) {
    const declared = options[provider].env;
    const problem = declared === undefined ? undefined : env(declared);
    if (problem !== undefined) throw new InvalidOptionsError(`${provider}.env`, problem);
  }
  if (options.prompt !== undefined && options.promptArgs !== undefined) {
    throw new InvalidOptionsError(
      "promptArgs",
      "an inline `prompt` is handed over as it is, nothing is filled in. Put the template into a file and pass `promptFile`.",
    );
  }
  if (options.prompt === undefined && options.promptFile === undefined) {
    throw new InvalidOptionsError(
      "prompt",
      "pass `prompt` with the text, or `promptFile` with a file that holds it.",
    );
  }
};
