import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { askingCaller } from "../../boundary/turns.ts";
import { isOpenToOthers, readEnvFile } from "../../envVars/envFile.ts";
import { type ResolvedEnv, readEnvValues } from "../../envVars/envValues.ts";
import { resolveEnv } from "../../envVars/resolveEnv.ts";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { refuseTrackedEnvFile } from "../../git/trackedFile.ts";
import { ENV_FILE } from "../../options/configDirectory.ts";
import type { EnvValue, EnvVars } from "../../options/envVars.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

export interface EnvPlan {
  readonly sources: ReadonlyMap<string, EnvValue>;
  readonly warnings: readonly string[];
}

/** The env vars that are declared for a session outside `.sanddune/.env`. */
export interface EnvDeclarations {
  readonly agent: EnvVars;
  readonly sandbox: EnvVars;
  /** The `env` option of the call. */
  readonly run: EnvVars;
}

/** For sessions that run no commands. */
export const NO_ENV: ResolvedEnv = { values: {}, secrets: new Map() };

/** Decides where the value of each env var comes from. */
export const planEnv = Effect.fnUntraced(function* (
  declarations: EnvDeclarations,
  { configDirectory }: Repository,
): Effect.fn.Return<EnvPlan, SandduneError> {
  const checkoutPath = dirname(configDirectory);
  const sources = yield* attempt(() => {
    const path = join(checkoutPath, ENV_FILE);
    const file = readEnvFile(path);
    const resolved = resolveEnv({ host: process.env, file: file ?? {}, ...declarations });
    return { resolved, hasFile: file !== undefined, openPath: isOpenToOthers(path) ? path : undefined };
  });
  if (sources.hasFile) yield* refuseTrackedEnvFile(checkoutPath);
  const unset = Object.keys(declarations.run).filter((name) => !sources.resolved.has(name));
  return {
    sources: sources.resolved,
    warnings: [
      ...(sources.openPath === undefined
        ? []
        : [
            `Other accounts of this machine can read or change ${ENV_FILE}, which contains secrets: chmod 600 ${shellQuote(sources.openPath)}`,
          ]),
      ...unset.map(
        (name) =>
          `The env var ${name} is declared, but neither .sanddune/.env nor the environment has a value.`,
      ),
    ],
  };
});

/** Reads the values from their sources. */
export const readEnv = (sources: ReadonlyMap<string, EnvValue>): Effect.Effect<ResolvedEnv, SandduneError> =>
  interruptible((signal) => askingCaller(() => readEnvValues(sources, signal)));

/** The env vars of a call, which take precedence over those of the parent session. */
export const overlayEnv = (outer: EnvVars, own: EnvVars): EnvVars => ({
  ...outer,
  // A declaration without a value does not replace the parent's value.
  ...Object.fromEntries(
    Object.entries(own).filter(([name, value]) => value !== undefined || !Object.hasOwn(outer, name)),
  ),
});
