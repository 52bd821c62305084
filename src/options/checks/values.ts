import { isObject } from "../../tools/values/predicates.ts";
import { branchStrategy } from "./branchStrategy.ts";
import {
  type Check,
  callback,
  flag,
  members,
  milliseconds,
  nested,
  oneOf,
  text,
  textByName,
  texts,
} from "./checks.ts";
import { isSessionId } from "./sessionId.ts";

export { branchStrategy } from "./branchStrategy.ts";
export { commandEnv, env } from "./envVars.ts";
export { hooks, sandboxHooks, worktreeHooks } from "./hooks.ts";
export { output } from "./output.ts";
export { sandbox, sandboxOrNone } from "./sandbox.ts";

export const agent: Check = (value) =>
  isObject(value) &&
  text(value["name"]) === undefined &&
  typeof value["buildCommand"] === "function" &&
  typeof value["createParser"] === "function"
    ? undefined
    : 'must be an agent provider, e.g. claudeCode("claude-opus-4-8") or command("sh ./agent.sh")';
export const interactiveAgent: Check = (value) => {
  const problem = agent(value);
  if (problem !== undefined) return problem;
  const { name, interactiveCommand } = value as { name?: unknown; interactiveCommand?: unknown };
  return typeof interactiveCommand === "function"
    ? undefined
    : `the agent ${String(name)} has no terminal interface: it has no \`interactiveCommand\``;
};
export const completionSignal: Check = (value) => {
  const signals = Array.isArray(value) ? value : [value];
  return signals.length > 0 && signals.every((signal) => text(signal) === undefined)
    ? undefined
    : "must be a non-empty string, or a list of them";
};
export const signal: Check = (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal");

export const name: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && !/[\r\n]/.test(value)
    ? undefined
    : "must be a non-empty string on one line";

/** Most often a blank one is a variable that is not set. */
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
/** Where there is no agent, there are no events of one. */
export const setupLogging = loggingOf({});

export const branch: Check = (value) =>
  typeof value === "string" ? undefined : "must be the name of the branch that everything is committed to";
export const worktreeBranchStrategy: Check = (value) =>
  isObject(value) && value["type"] === "head"
    ? "with `head` there is no worktree: use `branch` or `merge-to-head`, or run() or interactive() to work in your checkout"
    : branchStrategy(value);

export const resumeSession: Check = (value) =>
  typeof value === "string" && isSessionId(value)
    ? undefined
    : "must be a session id: letters, digits, - and _, at most 100";
const price: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0
    ? undefined
    : "must be a number of US dollars, 0 or more";
export const cost: Check = (value) =>
  price(value) === undefined && value !== 0 ? undefined : "must be a number of US dollars above 0";
export const prices: Check = (value) => {
  members("prices", value, {
    inputPerMillion: price,
    outputPerMillion: price,
    cacheCreationPerMillion: price,
    cacheReadPerMillion: price,
  });
  const { inputPerMillion, outputPerMillion } = value as Record<string, unknown>;
  return inputPerMillion === undefined || outputPerMillion === undefined
    ? "needs `inputPerMillion` and `outputPerMillion`"
    : undefined;
};
export const onRateLimit: Check = (value) => {
  if (value === "fail") return undefined;
  if (!isObject(value)) return 'must be "fail" or { waitUpToMs: … }';
  members("onRateLimit", value, { waitUpToMs: milliseconds });
  return value["waitUpToMs"] === undefined ? 'must be "fail" or { waitUpToMs: … }' : undefined;
};

const isCommandEnv = (value: unknown): boolean =>
  textByName(value) === undefined &&
  Object.keys(value as object).every((name) => /^[A-Za-z_]\w*$/.test(name));
const isAddress = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
const isMcpServer = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const { command, args = [], env = {}, url, headers = {}, ...others } = value;
  if (Object.keys(others).length > 0) return false;
  if (command === undefined) {
    return isAddress(url) && textByName(headers) === undefined && !("args" in value) && !("env" in value);
  }
  const isProgram = text(command) === undefined && texts(args) === undefined && isCommandEnv(env);
  return isProgram && url === undefined && !("headers" in value);
};
/** Values may be secrets: only names are told. */
export const mcpServers: Check = (value) => {
  if (!isObject(value)) return "must be an object";
  const wrong = Object.keys(value).find(
    (name) => !/^[A-Za-z][\w-]*$/.test(name) || !isMcpServer(value[name]),
  );
  return (
    wrong &&
    `${wrong} must be { command: "…", args?: […], env?: {…} } or { url: "…", headers?: {…} }, and its name letters, digits, - and _`
  );
};

const isolation: Check = (value) =>
  value === "shared" || value === "strict" ? undefined : 'must be "shared" or "strict"';
export const environment: Check = (value) => {
  if (typeof value === "string") return text(value);
  members("environment", value, { path: text, isolation, startTimeoutMs: milliseconds });
  return (value as { path?: unknown }).path === undefined ? "needs the `path` of its folder" : undefined;
};
export const until: Check = (value) => (value === "tests-pass" ? undefined : 'must be "tests-pass"');

export const noResume: Check = () =>
  "a sandbox that lasts does not go on with a session of the agent's: each run in it begins a new one";

export const execInput: Check = (value) =>
  typeof value === "string" ||
  value instanceof Uint8Array ||
  (typeof value === "object" && value !== null && Symbol.asyncIterator in value)
    ? undefined
    : "must be a string, bytes, or an async iterable of bytes";
