import { SandboxLostError } from "../../errors.ts";
import { askLaunch } from "./runLaunch.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

export const SIGKILL_EXIT_CODE = 137;

const PROBE_TIMEOUT_MS = 5000;

/**
 * The exec id comes on standard input: on its argv it would find itself. Without `-q`, another process that ends
 * meanwhile would be an error of `grep`, in spite of what was found.
 */
const PROBE = `
if grep -qsF -f - /proc/[0-9]*/cmdline; then echo running; else echo over; fi
`;

/**
 * Asks a sandbox about a command that ended without an exit marker.
 *
 * - `over`: the sandbox answers and the command's wrapper is gone, so something killed it.
 * - `running`: the sandbox answers and the wrapper still runs, so the connection to it was lost.
 * - `silent`: the sandbox does not answer.
 */
const probeSandbox = async (
  access: SandboxAccess,
  execId: string,
  signal: AbortSignal,
): Promise<"over" | "running" | "silent"> => {
  try {
    const answer = await askLaunch(access.launch(["sh", "-c", PROBE], { sudo: false }), {
      stdin: `${execId}\n`,
      timeoutMs: PROBE_TIMEOUT_MS,
      signal,
    });
    const word = answer.stdout.trim();
    return answer.exitCode === 0 && (word === "over" || word === "running") ? word : "silent";
  } catch {
    return "silent";
  }
};

/**
 * Decides how a command ended whose host process is over, but whose exit marker never came: with an exit code if its
 * wrapper was killed in the sandbox; otherwise throws a `SandboxLostError`. Remaining processes of the command are killed.
 */
export const exitCodeWithoutMarker = async (
  access: SandboxAccess,
  ended: {
    readonly execId: string;
    readonly sudo: boolean;
    readonly clientExitCode: number;
    /** Why the connection broke, if it did: then the client's exit code says nothing about the command. */
    readonly problem: string | undefined;
    readonly stderr: string;
    readonly signal: AbortSignal;
  },
): Promise<number> => {
  const state = await probeSandbox(access, ended.execId, ended.signal);
  ended.signal.throwIfAborted();
  const words = [ended.stderr, ended.problem].filter(Boolean).join("\n");
  if (state === "silent") {
    const { problem, details, isByCommands } = await access.diagnose();
    throw new SandboxLostError(access.provider, problem, `${details}\n${words}`, isByCommands);
  }
  await access.kill(ended.execId, { sudo: ended.sudo });
  if (state === "running") {
    throw new SandboxLostError(access.provider, "the connection to a running command broke", words);
  }
  const wasKilled = ended.clientExitCode > 128 && ended.clientExitCode <= 128 + 64;
  if (ended.problem !== undefined || (access.isRemote && !wasKilled)) {
    const problem = "the connection to a command broke, so its exit code is unknown";
    throw new SandboxLostError(access.provider, problem, words);
  }
  // Lower codes are errors of the host process itself.
  return ended.clientExitCode >= 125 ? ended.clientExitCode : SIGKILL_EXIT_CODE;
};
