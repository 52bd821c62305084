import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { SandboxCreateOptions, SandboxHandle, SandboxProvider } from "../../sandboxes/contract.ts";
import { openHandle } from "../../sandboxes/handle/openHandle.ts";
import { once } from "./once.ts";
import type { ScenarioSandboxOptions } from "./scenarioSandbox.ts";

export interface OpenSandbox<Handle extends SandboxHandle> {
  readonly handle: Handle;
  /** A directory on the host, which is removed with the sandbox. */
  readonly filesPath: string;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Creates a sandbox with a unique name, which is noted first. Leaves nothing behind if that fails. */
export const openSandbox = async <Handle extends SandboxHandle>(
  { suite, runner }: ScenarioSandboxOptions,
  provider: SandboxProvider,
  create: (options: SandboxCreateOptions, filesPath: string) => Promise<Handle>,
  signal: AbortSignal,
): Promise<OpenSandbox<Handle>> => {
  const { runId } = runner;
  const sandboxName = `sanddune-${runId}-${randomBytes(4).toString("hex")}`;
  const filesPath = join(runner.path, sandboxName);
  await mkdir(filesPath);
  runner.noteSandbox(provider.name, sandboxName);
  try {
    const options = {
      ...{ runId, sandboxName, repositoryPath: suite.root, signal },
      onPlaced: (place: string) => runner.noteSandbox(provider.name, sandboxName, place),
    };
    const handle = await openHandle(provider, () => create(options, filesPath), signal);
    return {
      handle,
      filesPath,
      close: once(() => handle.close().finally(() => removeDirectory(filesPath))),
    };
  } catch (error) {
    await removeDirectory(filesPath);
    throw error;
  }
};
