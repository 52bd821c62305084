import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SandboxUserMismatchError } from "../errors.ts";
import type {
  BindMountSandboxProvider,
  SandboxCreateOptions,
  SandboxHandle,
  SandboxProvider,
} from "../sandboxes/contract.ts";
import { copyIn } from "../sandboxes/copy/copyIn.ts";
import type { OwnedDirectory } from "../sandboxes/directories/ownedDirectory.ts";
import { openHandle, providerError } from "../sandboxes/handle/openHandle.ts";

const DIRECTORY_IN_SANDBOX = "/sanddune/work";
const HOME_IN_SANDBOX = "/sanddune/home";

/** A sandbox of either kind of provider, behind one interface. */
export interface ProviderSandbox {
  readonly handle: SandboxHandle;
  copyIn(hostPath: string, sandboxPath: string): Promise<void>;
  close(): Promise<void>;
}

const requireOwnUser = async (
  provider: string,
  handle: SandboxHandle,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { stdout } = await handle.exec("[ -O . ] && echo own || id -u", signal ? { signal } : {});
  if (stdout.trim() === "own") return;
  throw new SandboxUserMismatchError(
    provider,
    process.getuid?.() ?? -1,
    Number(stdout),
    "Let the sandbox run as your own user: leave the `user` option out, or set it to your uid and gid.",
    "directory",
  );
};

const EMPTYING_TIMEOUT_MS = 60_000;
const EMPTYING = `for file in * .[!.]* ..?*; do rm -rf -- "./$file"; done`;

const openBindMount = async (
  provider: BindMountSandboxProvider,
  options: SandboxCreateOptions,
  directory: string,
): Promise<ProviderSandbox> => {
  const [work, home] = [join(directory, "work"), join(directory, "home")];
  await mkdir(work);
  await mkdir(home);
  const mounts = [
    { hostPath: work, sandboxPath: DIRECTORY_IN_SANDBOX, readOnly: false },
    { hostPath: home, sandboxPath: HOME_IN_SANDBOX, readOnly: false },
  ];
  const create = () =>
    provider.create({
      ...options,
      worktreePath: DIRECTORY_IN_SANDBOX,
      homePath: HOME_IN_SANDBOX,
      mounts,
    });
  const handle = await openHandle(provider, create, options.signal);
  try {
    await requireOwnUser(provider.name, handle, options.signal);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const files = {
    provider: provider.name,
    run: ({ command, ...execOptions }: { readonly command: string }) => handle.exec(command, execOptions),
  };
  return {
    handle,
    copyIn: (hostPath, sandboxPath) => copyIn(files, hostPath, sandboxPath),
    close: async () => {
      // The host's user may not be able to remove files of root.
      if (options.usesSudo) {
        await handle.exec(EMPTYING, { sudo: true, timeoutMs: EMPTYING_TIMEOUT_MS }).catch(() => {});
      }
      await handle.close();
    },
  };
};

const open = async (
  provider: SandboxProvider,
  options: SandboxCreateOptions,
  directory: string,
): Promise<ProviderSandbox> => {
  if (provider.type === "bind-mount") return openBindMount(provider, options, directory);
  const handle = await openHandle(provider, () => provider.create(options), options.signal);
  return {
    handle,
    copyIn: (hostPath, sandboxPath) => handle.copyIn(hostPath, sandboxPath),
    close: () => handle.close(),
  };
};

/** Notes a sandbox, then creates it. Leaves nothing if that fails or is aborted. */
export const openProviderSandbox = async (
  provider: SandboxProvider,
  directory: OwnedDirectory,
  { usesSudo, signal }: Pick<SandboxCreateOptions, "usesSudo" | "signal">,
): Promise<ProviderSandbox> => {
  const { runId } = directory;
  const sandboxName = `sanddune-${runId}`;
  directory.noteSandbox(provider.name, sandboxName);
  const options: SandboxCreateOptions = {
    ...{ runId, sandboxName, repositoryPath: process.cwd() },
    ...(usesSudo !== undefined && { usesSudo }),
    ...(signal && { signal }),
    onPlaced: (place) => directory.noteSandbox(provider.name, sandboxName, place),
  };
  try {
    const sandbox = await open(provider, options, directory.path);
    // Not every provider checks the signal.
    if (!signal?.aborted) return sandbox;
    await sandbox.close();
    throw signal.reason;
  } catch (error) {
    // A sandbox that cannot be removed now stays noted.
    await directory.removeWithSandboxes().catch(() => {});
    signal?.throwIfAborted();
    throw providerError(provider.name, "it could not be created")(error);
  }
};
