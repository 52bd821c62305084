import { setMaxListeners } from "node:events";
import { SandboxLostError } from "../errors.ts";
import type { BindMountSandboxHandle, ExecOptions } from "./contract.ts";
import { copyFileIn, copyFileOut } from "./copyFile.ts";
import { runInteractiveExec } from "./interactiveExec.ts";
import { type ExecRequest, runExec } from "./runExec.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

/** A sandbox in which an argv can be run: all that a provider has to know how to do. */
export interface CommandSandboxDescription extends SandboxAccess {
  readonly name: string;
  /** Called once, when no command runs any more. Frees what the sandbox holds, in bounded time; rejects if something is left. */
  close(): Promise<void>;
}

/** Makes a sandbox handle of a sandbox in which an argv can be run. */
export const commandSandbox = (description: CommandSandboxDescription): BindMountSandboxHandle => {
  const closed = new AbortController();
  // Every running command listens to it; there may be any number of them.
  setMaxListeners(0, closed.signal);
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const track = <A>(result: Promise<A>): Promise<A> => {
    const settled = result.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
    return result;
  };
  const run = (request: ExecRequest) => track(runExec(description, request, closed.signal));
  const files = { provider: description.provider, run };

  const close = async () => {
    closed.abort(new SandboxLostError(description.provider, "it was closed"));
    await Promise.allSettled(running);
    await description.close();
  };

  return {
    name: description.name,
    worktreePath: description.worktreePath,
    exec: (command: string, options: ExecOptions = {}) => run({ ...options, command }),
    interactiveExec: (command, options = {}) =>
      track(runInteractiveExec(description, run, { ...options, command }, closed.signal)),
    copyFileIn: (hostPath, sandboxPath) => copyFileIn(files, hostPath, sandboxPath),
    copyFileOut: (sandboxPath, hostPath) => copyFileOut(files, sandboxPath, hostPath),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
};
