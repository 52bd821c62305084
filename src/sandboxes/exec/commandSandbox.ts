import { SandboxError, SandboxLostError } from "../../errors.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type {
  BindMountSandboxHandle,
  ExecOptions,
  InteractiveExecOptions,
  IsolatedSandboxHandle,
  SandboxHandle,
  SnapshotOptions,
} from "../contract.ts";
import { copyFileIn, copyFileOut, type FileExec } from "../copy/copyFile.ts";
import { copyIn } from "../copy/copyIn.ts";
import type { Reachability } from "../relay/reachability.ts";
import { type Heartbeat, watch } from "./heartbeat.ts";
import { runInteractiveExec } from "./interactiveExec.ts";
import { type ExecRequest, runExec } from "./runExec.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

/** A sandbox in which an argv can be run: all that a provider has to implement. */
export interface CommandSandboxDescription extends SandboxAccess {
  /** Names this sandbox in errors. */
  readonly name: string;
  /** `false` if no terminal is possible. */
  readonly hasTerminal?: boolean;
  /** For sandboxes whose loss their commands would not notice. */
  readonly heartbeat?: Heartbeat;
  /** As in `SandboxHandle`. Left out if the state cannot be kept. */
  snapshot?(options: SnapshotOptions): Promise<string>;
  /**
   * Called instead of `close` when the sandbox was lost: resolves with whether it may still hold work; if so, it is left to its
   * lease. Left out where a lost sandbox is gone for good. Must not reject.
   */
  leave?(): Promise<boolean>;
  /** Called once, when no command runs. Frees the sandbox's resources within a limit; rejects if something is left behind. */
  close(): Promise<void>;
}

/** A sandbox whose commands outlive their connection. */
interface ReachableSandboxDescription extends CommandSandboxDescription {
  readonly reach?: Reachability;
}

interface OpenedSandbox {
  readonly handle: SandboxHandle;
  readonly files: FileExec;
}

const openSandbox = (description: ReachableSandboxDescription): OpenedSandbox => {
  const closed = new AbortController();
  onAbort(closed.signal, () => description.reach?.end());
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const track = <A>(result: Promise<A>): Promise<A> => {
    const settled = result.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
    return result;
  };
  if (description.heartbeat !== undefined) {
    void watch(description.heartbeat, closed.signal, (error) => {
      const isSure = error instanceof SandboxLostError;
      closed.abort(
        isSure ? error : new SandboxLostError(description.provider, "it no longer answers", String(error)),
      );
    });
  }
  const run = (request: ExecRequest) => track(runExec(description, request, closed.signal));
  const files = { provider: description.provider, run };

  const end = async () => {
    closed.abort(new SandboxLostError(description.provider, "it was closed"));
    await Promise.allSettled(running);
  };
  const close = async () => {
    await end();
    await description.close();
  };
  const { leave } = description;
  const snapshot = async (options: SnapshotOptions): Promise<string> => {
    closed.signal.throwIfAborted();
    options.signal?.throwIfAborted();
    if (description.snapshot === undefined)
      throw new SandboxError(description.provider, "its state cannot be kept");
    return description.snapshot(options);
  };

  const handle: SandboxHandle = {
    name: description.name,
    worktreePath: description.worktreePath,
    exec: (command: string, options: ExecOptions = {}) => run({ ...options, command }),
    ...(description.hasTerminal !== false && {
      interactiveExec: (command: string, options: InteractiveExecOptions = {}) =>
        track(runInteractiveExec(description, run, { ...options, command }, closed.signal)),
    }),
    copyFileOut: (sandboxPath, hostPath) => copyFileOut(files, sandboxPath, hostPath),
    ...(description.snapshot && { snapshot: (options) => track(snapshot(options)) }),
    ...(leave && {
      leave: async () => {
        if (closing !== undefined || !(await leave())) return false;
        closing ??= end();
        await closing;
        return true;
      },
    }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  return { handle, files };
};

/** Makes the handle of a sandbox that sees host directories. */
export const commandSandbox = (description: ReachableSandboxDescription): BindMountSandboxHandle => {
  const { handle, files } = openSandbox(description);
  return {
    ...handle,
    copyFileIn: (hostPath, sandboxPath) => copyFileIn(files, hostPath, sandboxPath),
  };
};

/** Makes the handle of a sandbox with its own files. Copying directories needs `tar` in it. */
export const isolatedCommandSandbox = (description: ReachableSandboxDescription): IsolatedSandboxHandle => {
  const { handle, files } = openSandbox(description);
  return { ...handle, copyIn: (hostPath, sandboxPath) => copyIn(files, hostPath, sandboxPath) };
};
