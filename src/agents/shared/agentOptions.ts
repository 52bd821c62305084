import { type Check, type Checks, checkValue, flag, text } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";

/** What can be said about every agent. */
export interface AgentSettings {
  /** More env vars for the agent, or values for those that it declares. */
  readonly env?: EnvVars;
}

/** What can be said about agents whose sessions can be captured. */
export interface SessionSettings {
  /** Bring the agent's session to the host after each iteration; `true` when it is left out. */
  readonly captureSessions?: boolean;
}

/** The options that every agent has. */
export const AGENT_OPTIONS: Checks<AgentSettings> = { env };

/** The options of agents whose sessions can be captured. */
export const SESSION_OPTIONS: Checks<AgentSettings & SessionSettings> = {
  ...AGENT_OPTIONS,
  captureSessions: flag,
};

/** A hyphen would make an option of the agent's program of it. */
const model: Check = (value) =>
  text(value) === undefined && !(value as string).startsWith("-")
    ? undefined
    : "must be the name of a model, which begins with no hyphen";

export const checkModel = (value: unknown): void => checkValue("model", value, model);

/** The env vars for a model's provider, which is the first part of its name; none for a provider of the caller's own. */
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
