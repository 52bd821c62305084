import { tmpdir } from "node:os";
import { readEnvValues } from "../envVars/envValues.ts";
import { resolveEnv } from "../envVars/resolveEnv.ts";
import { hostFileErrorAt } from "../errors/hostFile.ts";
import type { StandaloneSandbox, StandaloneSandboxOptions } from "../options/standaloneSandbox.ts";
import { createRunId } from "../runs/journal/runId.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import {
  type OwnedDirectory,
  openOwnedDirectory,
  removeDeadDirectories,
} from "../sandboxes/directories/ownedDirectory.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { openProviderSandbox } from "./openProviderSandbox.ts";
import { standalone } from "./standalone.ts";

const openDirectory = (): Promise<OwnedDirectory> =>
  openOwnedDirectory("standalone", createRunId()).catch((cause) => {
    throw hostFileErrorAt(tmpdir())(cause);
  });

/** Creates a sandbox that belongs to no repository. Its options have been checked. */
export const createStandalone = async (
  provider: SandboxProvider,
  options: StandaloneSandboxOptions,
): Promise<StandaloneSandbox> => {
  const {
    env = {},
    needs = {},
    usesSudo = needs.sudo ?? false,
    signal = new AbortController().signal,
  } = options;
  signal.throwIfAborted();
  const declared = { agent: {}, sandbox: provider.env ?? {}, run: env };
  const sources = resolveEnv({ host: process.env, file: {}, ...declared });
  await Promise.all([
    preflight(provider, { repositoryPath: process.cwd(), usesSudo, signal }, needs),
    removeDeadDirectories(signal),
  ]);
  signal.throwIfAborted();
  const resolved = await readEnvValues(sources, signal);
  signal.throwIfAborted();
  const directory = await openDirectory();
  const sandbox = await openProviderSandbox(provider, directory, { usesSudo, signal });
  return standalone({ provider: provider.name, sandbox, directory, env: resolved, usesSudo });
};
