import { tmpdir } from "node:os";
import { readEnvValues } from "../envVars/envValues.ts";
import { resolveEnv } from "../envVars/resolveEnv.ts";
import { HostFileError } from "../errors.ts";
import type { StandaloneSandbox, StandaloneSandboxOptions } from "../options/standaloneSandbox.ts";
import { createRunId } from "../runs/journal/runId.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import {
  type OwnedDirectory,
  openOwnedDirectory,
  removeDeadDirectories,
} from "../sandboxes/directories/ownedDirectory.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { openMachine } from "./openMachine.ts";
import { standalone } from "./standalone.ts";
import { validateHandle } from "./validate.ts";

const openDirectory = (): Promise<OwnedDirectory> =>
  openOwnedDirectory("standalone", createRunId()).catch((cause: NodeJS.ErrnoException) => {
    throw new HostFileError(cause.code ?? "unknown", tmpdir(), { cause });
  });

/** Makes a sandbox that belongs to no repository. */
export const createStandalone = async (
  provider: SandboxProvider,
  options: StandaloneSandboxOptions,
): Promise<StandaloneSandbox> => {
  validateHandle(provider, options);
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
  const machine = await openMachine(provider, directory, { usesSudo, signal });
  return standalone({ provider: provider.name, machine, directory, env: resolved, usesSudo });
};
