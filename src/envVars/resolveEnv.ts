import { EnvOverlapError, InvalidOptionsError } from "../errors.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import type { EnvValue, EnvVars } from "../options/envVars.ts";
import { envNameProblem } from "./envName.ts";

/** The sources of env vars, from lowest to highest precedence. The two providers are equal. */
export interface EnvSources {
  readonly host: Readonly<Record<string, string | undefined>>;
  readonly file: Readonly<Record<string, string>>;
  readonly agent: EnvVars;
  readonly sandbox: EnvVars;
  readonly run: EnvVars;
}

const checkNames = ({ file, agent, sandbox, run }: EnvSources): void => {
  const declared = { [ENV_FILE]: file, "agent.env": agent, "sandbox.env": sandbox, env: run };
  for (const [option, vars] of Object.entries(declared)) {
    const problem = Object.keys(vars)
      .map(envNameProblem)
      .find((found) => found !== undefined);
    if (problem !== undefined) throw new InvalidOptionsError(option, problem);
  }
};

/** Own members only: `constructor` is a name like any other. */
const own = <Value>(vars: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(vars, name) ? vars[name] : undefined;

/**
 * Decides which source supplies the value of each declared key, without any I/O. A key is declared in
 * `.sanddune/.env`, or in the `env` of a provider or of the run; the host's environment declares nothing. An empty
 * value in `.sanddune/.env` declares the key, and the host supplies its value.
 */
export const resolveEnv = (sources: EnvSources): Map<string, EnvValue> => {
  checkNames(sources);
  const { host, file, agent, sandbox, run } = sources;
  const overlap = Object.keys(agent).filter((name) => Object.hasOwn(sandbox, name));
  if (overlap.length > 0) throw new EnvOverlapError(overlap);
  const declared = new Set([file, sandbox, agent, run].flatMap((vars) => Object.keys(vars)));
  const resolved = new Map<string, EnvValue>();
  for (const name of declared) {
    const value =
      own(run, name) ?? own(agent, name) ?? own(sandbox, name) ?? (own(file, name) || own(host, name));
    if (value !== undefined) resolved.set(name, value);
  }
  return resolved;
};
