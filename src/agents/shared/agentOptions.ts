import {
  type Check,
  type Checks,
  checkedOptions,
  checkValue,
  flag,
  text,
} from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";

/** The options of every agent. */
export interface AgentOptions {
  /** More env vars for the agent, or values for those that it declares. */
  readonly env?: EnvVars;
}

/** The options of agents whose sessions can be captured. */
export interface SessionAgentOptions extends AgentOptions {
  /** Copy the agent's session to the host after each iteration; `true` when it is left out. */
  readonly captureSessions?: boolean;
}

export const AGENT_OPTIONS: Checks<AgentOptions> = { env };

export const SESSION_AGENT_OPTIONS: Checks<SessionAgentOptions> = { ...AGENT_OPTIONS, captureSessions: flag };

/** The agent's program would take a hyphen for the start of an option. */
const modelName: Check = (value) =>
  text(value) === undefined && !(value as string).startsWith("-")
    ? undefined
    : "must be the name of a model, and must not begin with a hyphen";

/** Checks the arguments of an agent's factory. Throws an `InvalidOptionsError`. */
export const checkedArguments = <Options extends object>(
  model: unknown,
  options: Options,
  checks: Checks<Options>,
): Options => {
  checkValue("model", model, modelName);
  return checkedOptions(options, checks);
};

/** The env vars for a model's provider, which is the first part of its name; none for a provider that is not listed. */
export const keysFor = <Key extends string>(
  model: string,
  keys: Readonly<Record<string, readonly Key[]>>,
): readonly Key[] => {
  const provider = model.split("/")[0] ?? "";
  return Object.hasOwn(keys, provider) ? (keys[provider] ?? []) : [];
};

/** Declares env vars whose values `.sanddune/.env` or the host's environment supplies, and adds the caller's. */
export const declareEnv = <Key extends string>(
  keys: readonly Key[],
  own: EnvVars = {},
): EnvVars & Readonly<Record<Key, EnvVars[string]>> =>
  ({ ...Object.fromEntries(keys.map((key) => [key, undefined])), ...own }) as EnvVars &
    Readonly<Record<Key, EnvVars[string]>>;
