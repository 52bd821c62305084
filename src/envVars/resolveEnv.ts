import { EnvOverlapError, InvalidOptionsError } from "../errors.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import type { EnvValue, EnvVars } from "../options/envVars.ts";
import { envNameProblem } from "./envName.ts";

/** The sources of env vars, from the weakest to the strongest; the two providers are equals. */
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

/** `constructor` is a name like any other. */
const own = <Value>(vars: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(vars, name) ? vars[name] : undefined;

/**
 * The env var resolver: decides, for every declared key, which source supplies it. Pure. A key is declared by standing
 * in `.sanddune/.env`, in the env of a provider, or in that of the run; the host's environment declares nothing. An
 * empty value in `.sanddune/.env` declares the key and leaves the value to the host.
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
