import { join } from "node:path";
import type { AgentProvider } from "../../agents/contract.ts";
import { runAtBoundary } from "../../boundary/boundary.ts";
import { readEnvFile } from "../../envVars/envFile.ts";
import { type ResolvedEnv, readEnvValues } from "../../envVars/envValues.ts";
import { resolveEnv } from "../../envVars/resolveEnv.ts";
import { GitError } from "../../errors.ts";
import { refuseTrackedEnvFile } from "../../git/trackedFile.ts";
import { ENV_FILE } from "../../options/configDirectory.ts";
import type { EnvVars } from "../../options/envVars.ts";

const refuseTracked = async (root: string): Promise<void> => {
  try {
    await runAtBoundary(refuseTrackedEnvFile(root));
  } catch (error) {
    // A suite need not be in a repository.
    if (!(error instanceof GitError && /not a git repository/.test(error.stderr))) throw error;
  }
};

/** Resolves the env vars of a suite's agents as a run would. */
export const readAgentEnv = async (
  root: string,
  agents: readonly AgentProvider[],
  sandbox: EnvVars,
  signal: AbortSignal,
): Promise<ResolvedEnv> => {
  const file = readEnvFile(join(root, ENV_FILE));
  if (file !== undefined) await refuseTracked(root);
  const agent: EnvVars = Object.assign({}, ...agents.map(({ env }) => env));
  const sources = resolveEnv({ host: process.env, file: file ?? {}, agent, sandbox, run: {} });
  return readEnvValues(sources, signal);
};
