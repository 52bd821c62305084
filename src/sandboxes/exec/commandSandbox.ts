import { SandboxLostError } from "../../errors.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type {
  BindMountSandboxHandle,
  ExecOptions,
  InteractiveExecOptions,
  IsolatedSandboxHandle,
  SandboxHandle,
} from "../contract.ts";
import { copyFileIn, copyFileOut, type FileExec } from "../copy/copyFile.ts";
import { copyIn } from "../copy/copyIn.ts";
import type { Reachability } from "../relay/reachability.ts";
import { type Heartbeat, watch } from "./heartbeat.ts";
import { runInteractiveExec } from "./interactiveExec.ts";
import { type ExecRequest, runExec } from "./runExec.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

/** A sandbox in which an argv can be run: all that a provider has to know how to do. */
export interface CommandSandboxDescription extends SandboxAccess {
  /** Names this sandbox in errors. */
  readonly name: string;
  /** `false` where there can be no terminal. */
  readonly hasTerminal?: boolean;
  /** For sandboxes whose loss would not be noticed by the commands in them. */
  readonly heartbeat?: Heartbeat;
  /**
   * Called instead of `close` when the sandbox was lost: resolves with whether it may still hold work, and lets go of it then.
   * Left out where a sandbox that was lost is gone for good. Must not reject.
   */
  leave?(): Promise<boolean>;
  /** Called once, when no command runs any more. Frees what the sandbox holds, in bounded time; rejects if something is left. */
  close(): Promise<void>;
}

/** The same of a sandbox whose commands outlive their connection: it is not asked for once the sandbox is closed. */
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
        isSure
          ? error
          : new SandboxLostError(description.provider, "it does not answer any more", String(error)),
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

  const handle: SandboxHandle = {
    name: description.name,
    worktreePath: description.worktreePath,
    exec: (command: string, options: ExecOptions = {}) => run({ ...options, command }),
    ...(description.hasTerminal !== false && {
      interactiveExec: (command: string, options: InteractiveExecOptions = {}) =>
        track(runInteractiveExec(description, run, { ...options, command }, closed.signal)),
    }),
    copyFileOut: (sandboxPath, hostPath) => copyFileOut(files, sandboxPath, hostPath),
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

/** Makes a sandbox handle of a sandbox in which an argv can be run, and which sees the host's files. */
export const commandSandbox = (description: ReachableSandboxDescription): BindMountSandboxHandle => {
  const { handle, files } = openSandbox(description);
  return {
    ...handle,
    copyFileIn: (hostPath, sandboxPath) => copyFileIn(files, hostPath, sandboxPath),
  };
};

/** Makes a sandbox handle of a sandbox with files of its own, in which an argv can be run. Directories need `tar` in it. */
export const isolatedCommandSandbox = (description: ReachableSandboxDescription): IsolatedSandboxHandle => {
  const { handle, files } = openSandbox(description);
  return { ...handle, copyIn: (hostPath, sandboxPath) => copyIn(files, hostPath, sandboxPath) };
};
