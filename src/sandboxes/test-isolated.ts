import { cp, mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SandboxError } from "../errors.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import { commandSandbox } from "./commandSandbox.ts";
import {
  createIsolatedSandboxProvider,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type SandboxCreateOptions,
} from "./contract.ts";
import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "./execWrapper.ts";
import { killOnHost } from "./killOnHost.ts";
import { killExecArguments, killSandboxArguments } from "./killScript.ts";

const NAME = "test-isolated";

const create = async ({ sandboxName, signal }: SandboxCreateOptions): Promise<IsolatedSandboxHandle> => {
  signal?.throwIfAborted();
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-test-isolated-")));
  const sandboxMark = basename(directory);
  const worktreePath = join(directory, "repo");
  const homePath = join(directory, "home");
  await mkdir(worktreePath);
  await mkdir(homePath);

  const env = {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: homePath,
    LANG: "C.UTF-8",
    [SANDBOX_VARIABLE]: sandboxMark,
  };
  const handle = commandSandbox({
    provider: NAME,
    name: sandboxName,
    worktreePath,
    fallbackHome: homePath,
    launch: (argv, { sudo, execId }) => {
      if (sudo) throw new SandboxError(NAME, "it has no root user, so `sudo` is not possible");
      // In a session of their own, background processes outlive the process that the host waits for.
      return {
        program: "setsid",
        args: ["--wait", ...argv],
        env: { ...env, ...(execId !== undefined && { [EXEC_ID_VARIABLE]: execId }) },
      };
    },
    kill: (execId) =>
      killOnHost(killExecArguments(execId, { ownsProcessNamespace: false, mayStillStart: false })),
    diagnose: async () => ({
      problem: "commands cannot be started any more",
      details: `Its directory: ${directory}`,
    }),
    close: async () => {
      await killOnHost(killSandboxArguments(sandboxMark));
      await removeDirectory(directory);
    },
  });

  return {
    ...handle,
    copyIn: async (hostPath, sandboxPath) => {
      try {
        await mkdir(dirname(sandboxPath), { recursive: true });
        await cp(hostPath, sandboxPath, { recursive: true, verbatimSymlinks: true });
      } catch (cause) {
        throw new SandboxError(NAME, `${JSON.stringify(hostPath)} was not copied in`, String(cause), {
          cause,
        });
      }
    },
  };
};

/**
 * For tests of code that uses isolated sandboxes: the "sandbox" is a temporary directory, and commands run in it, on
 * the host, as the host's user. It isolates NOTHING: never run an agent in it. Linux only.
 *
 * Commands get an environment of their own (PATH, HOME in the temporary directory, LANG), never the host's.
 */
export const testIsolated = (): IsolatedSandboxProvider =>
  createIsolatedSandboxProvider({ name: NAME, create });
