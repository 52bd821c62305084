/** Sandboxes that are directories of another machine, which is reached with ssh. They keep an agent's files apart, and nothing else. */
import {
  createIsolatedSandboxProvider,
  type IsolatedSandboxProvider,
  SandboxError,
  SandboxUnavailableError,
} from "@missingstudio/sanddune";
import {
  askLaunch,
  isolatedCommandSandbox,
  killInSandbox,
  type SandboxAccess,
  shellQuote,
} from "@missingstudio/sanddune/sandboxes/kit";

const NAME = "ssh";
const TIMEOUT_MS = 20_000;

/** A command may signal its process group. The shell that waits for it is outside of that, and says how it ended: 128 + n. */
const IN_OWN_GROUP = ["sh", "-c", 'exec 3<&0; setsid "$@" <&3 3<&- & exec 3<&-; wait $!', "sh"];

/** What runs a command line on the other machine: a program of this one, and its arguments. */
type Connect = (commandLine: string) => readonly [program: string, ...args: string[]];

const sshTo =
  (host: string): Connect =>
  (commandLine) => ["ssh", "-T", "-o", "BatchMode=yes", host, commandLine];

export const sshProvider = (host: string, connect: Connect = sshTo(host)): IsolatedSandboxProvider => {
  const launch: SandboxAccess["launch"] = (argv, { sudo }) => {
    if (sudo) throw new SandboxError(NAME, "there is no root");
    const [program, ...args] = connect([...IN_OWN_GROUP, ...argv].map(shellQuote).join(" "));
    return { program, args };
  };
  /** Runs something small, and gives what it printed. */
  const ask = async (script: string, signal?: AbortSignal): Promise<string> => {
    const asked = launch(["sh", "-c", script], { sudo: false });
    const { exitCode, stdout } = await askLaunch(asked, { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) });
    if (exitCode !== 0) throw new Error(`exit code ${exitCode} of ${script}`);
    return stdout.trim();
  };
  return createIsolatedSandboxProvider({
    name: NAME,
    capabilities: { sudo: false, terminal: false, networkPolicy: "none" },
    preflight: async ({ signal }) => {
      await ask("command -v git tar grep setsid", signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw new SandboxUnavailableError(
          NAME,
          `${host} does not answer (${error})`,
          `Try: ssh ${host} git --version`,
        );
      });
    },
    create: async ({ sandboxName, signal, onPlaced }) => {
      onPlaced?.(host);
      const made = `mkdir -p "$HOME/sanddune/${sandboxName}/repo" && cd "$HOME/sanddune/${sandboxName}" && pwd -P`;
      const directory = await ask(made, signal);
      return isolatedCommandSandbox({
        provider: NAME,
        name: sandboxName,
        worktreePath: `${directory}/repo`,
        fallbackHome: `${directory}/home`,
        isRemote: true,
        hasTerminal: false,
        launch,
        // The machine has other processes, too.
        kill: killInSandbox(launch, { ownsProcessNamespace: false }),
        diagnose: async () => ({
          problem: `${host} does not answer`,
          details: `Its directory: ${directory}`,
        }),
        heartbeat: { everyMs: 15_000, misses: 3, beat: async (beat) => void (await ask("true", beat)) },
        close: async () => {
          await ask(`rm -rf -- ${shellQuote(directory)}`).catch((cause: unknown) => {
            throw new SandboxError(
              NAME,
              `${directory} stays on ${host}. Try: ssh ${host} rm -rf ${directory}`,
              "",
              {
                cause,
              },
            );
          });
        },
      });
    },
  });
};
