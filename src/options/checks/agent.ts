import { isObject } from "../../tools/values/predicates.ts";
import { type Check, members, milliseconds, text } from "./checks.ts";
import { isSessionId } from "./sessionId.ts";

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

export const until: Check = (value) => (value === "tests-pass" ? undefined : 'must be "tests-pass"');

export const resumeSession: Check = (value) =>
  typeof value === "string" && isSessionId(value)
    ? undefined
    : "must be a session id: letters, digits, - and _, at most 100";

export const noResume: Check = () => "a run in an existing sandbox always starts a new agent session";

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
