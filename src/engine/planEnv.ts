import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { ENV_FILE } from "../configDirectory.ts";
import { readEnvFile } from "../env/envFile.ts";
import { type ResolvedEnv, readEnvValues } from "../env/envValues.ts";
import { resolveEnv } from "../env/resolveEnv.ts";
import type { EnvValue } from "../envVars.ts";
import { InvalidOptionsError, type SandduneError } from "../errors.ts";
import type { Repository } from "../git/repository.ts";
import { isTracked } from "../git/trackedFile.ts";
import { interruptible } from "../process/interruptible.ts";
import type { RunOptions } from "../runOptions.ts";

export interface EnvPlan {
  readonly sources: ReadonlyMap<string, EnvValue>;
  readonly warnings: readonly string[];
}

/**
 * Decides where each env var comes from. An env file that git tracks is refused: secrets do not belong there, and
 * whatever an agent commits must not decide which of the host's variables the next sandbox gets.
 */
export const planEnv = Effect.fnUntraced(function* (
  { agent, sandbox, env = {} }: RunOptions,
  { configDirectory }: Repository,
): Effect.fn.Return<EnvPlan, SandduneError> {
  const checkoutPath = dirname(configDirectory);
  const path = join(checkoutPath, ENV_FILE);
  const sources = yield* Effect.try({
    try: () => {
      const file = readEnvFile(path);
      const resolved = resolveEnv({
        host: process.env,
        file: file ?? {},
        agent: agent.env ?? {},
        sandbox: sandbox.env ?? {},
        run: env,
      });
      return { resolved, hasFile: file !== undefined };
    },
    catch: (error) => error as SandduneError,
  });
  if (sources.hasFile && (yield* isTracked(checkoutPath, ENV_FILE))) {
    return yield* Effect.fail(
      new InvalidOptionsError(
        ENV_FILE,
        `${path} is in git, where secrets do not belong and agents can change it. Take it out: git rm --cached ${ENV_FILE}`,
      ),
    );
  }
  const unset = Object.keys(env).filter((name) => !sources.resolved.has(name));
  return {
    sources: sources.resolved,
    warnings: unset.map(
      (name) =>
        `The env var ${name} is declared, but neither .sanddune/.env nor the environment has a value.`,
    ),
  };
});

/** Has every source say its value. */
export const readEnv = (sources: ReadonlyMap<string, EnvValue>): Effect.Effect<ResolvedEnv, SandduneError> =>
  interruptible(
    (signal) => readEnvValues(sources, signal),
    (reason) => reason as SandduneError,
  );
