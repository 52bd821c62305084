import type { EnvVars } from "../envVars.ts";
import { InvalidOptionsError } from "../errors.ts";

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

export const checkModel = (factory: string, model: unknown): void => {
  if (typeof model === "string" && model.trim() !== "" && !model.startsWith("-")) return;
  throw new InvalidOptionsError("model", `${factory}() needs the name of a model`);
};

export const checkChoice = (option: string, value: unknown, choices: readonly string[]): void => {
  if (value === undefined || choices.includes(value as string)) return;
  throw new InvalidOptionsError(option, `must be one of ${choices.join(", ")}`);
};

export const checkFlag = (option: string, value: unknown): void => {
  if (value === undefined || typeof value === "boolean") return;
  throw new InvalidOptionsError(option, "must be true or false");
};

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
  env: EnvVars = {},
): EnvVars & Readonly<Record<Key, EnvVars[string]>> =>
  ({ ...Object.fromEntries(keys.map((key) => [key, undefined])), ...env }) as EnvVars &
    Readonly<Record<Key, EnvVars[string]>>;
