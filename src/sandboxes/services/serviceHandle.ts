import { basename } from "node:path";
import { SandboxError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions, SnapshotOptions } from "../contract.ts";
import { type CommandSandboxDescription, isolatedCommandSandbox } from "../exec/commandSandbox.ts";
import { type DeadlineWarning, withDeadlineWarning } from "../exec/deadlineWarning.ts";
import { killInSandbox } from "../exec/killInSandbox.ts";
import { discreetCause, withoutSecrets } from "./credentials.ts";
import { type MadeWorktree, makeWorktree } from "./makeWorktree.ts";
import { readState, writeState } from "./snapshotState.ts";

/** A new sandbox of a service in which an argv can be run. */
export interface ServiceSandbox
  extends Pick<CommandSandboxDescription, "provider" | "launch" | "diagnose" | "heartbeat" | "close"> {
  /** Where the worktree is made; in the home of the commands' user when it is left out. */
  readonly inside?: string;
  /** Has the service keep the files. Resolves with its id for them. */
  keep?(options: SnapshotOptions): Promise<string>;
  /** Called with the worktree before any command runs. */
  onWorktree?(made: MadeWorktree): void;
  readonly deadlineWarning: DeadlineWarning;
  /** The credentials, which no error may show. */
  readonly secrets: readonly (string | undefined)[];
}

/** Makes the handle of a service's sandbox, with a worktree in it. If that fails or is aborted, the sandbox is ended. */
export const serviceHandle = async (
  { inside, onWorktree, keep, deadlineWarning, secrets, ...description }: ServiceSandbox,
  { sandboxName, snapshot, signal }: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { provider, launch } = description;
  try {
    signal?.throwIfAborted();
    const made = await makeWorktree(launch, {
      ...(inside !== undefined && { inside }),
      ...(snapshot && { existing: readState(provider, snapshot).directory }),
      signal,
    });
    onWorktree?.(made);
    const handle = isolatedCommandSandbox({
      ...description,
      name: sandboxName,
      worktreePath: made.worktreePath,
      fallbackHome: made.home,
      isRemote: true,
      hasTerminal: false,
      ...(keep && {
        snapshot: async (options) =>
          writeState({ id: await keep(options), directory: basename(made.worktreePath) }),
      }),
      // A service has processes of its own in the sandbox.
      kill: killInSandbox(launch, { ownsProcessNamespace: false }),
    });
    return withDeadlineWarning(handle, deadlineWarning);
  } catch (error) {
    deadlineWarning.cancel();
    await description.close().catch(() => {});
    signal?.throwIfAborted();
    throw new SandboxError(provider, "commands cannot be run in it", withoutSecrets(String(error), secrets), {
      cause: discreetCause(error, secrets),
    });
  }
};
