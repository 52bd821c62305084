import { SandboxLostError } from "../errors.ts";
import { runProcess } from "../process/runProcess.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

export const SIGKILL_EXIT_CODE = 137;

const PROBE_TIMEOUT_MS = 5000;

/** The exec id comes on standard input: on its argv it would find itself. */
const PROBE = `
if grep -lsF -f - /proc/[0-9]*/cmdline >/dev/null; then echo running; else echo over; fi
`;

/**
 * Asks a sandbox, whose command ended without an exit marker, what became of it.
 *
 * - `over`: the sandbox answers and the command's wrapper is gone, so something killed it.
 * - `running`: the sandbox answers and the wrapper is still there, so the connection to it was lost.
 * - `silent`: the sandbox does not answer.
 */
const probeSandbox = async (
  access: SandboxAccess,
  execId: string,
  signal: AbortSignal,
): Promise<"over" | "running" | "silent"> => {
  try {
    const answer = await runProcess({
      ...access.launch(["sh", "-c", PROBE], { sudo: false }),
      stdin: `${execId}\n`,
      timeoutMs: PROBE_TIMEOUT_MS,
      signal,
      captureBytes: 1024,
    });
    const word = answer.stdout.trim();
    return answer.exitCode === 0 && (word === "over" || word === "running") ? word : "silent";
  } catch {
    return "silent";
  }
};

/**
 * What a command is worth whose host process ended, but whose exit marker never came: an exit code when something
 * in the sandbox killed its wrapper, and a `SandboxLostError` otherwise. Whatever is left of the command is killed.
 */
export const exitCodeWithoutMarker = async (
  access: SandboxAccess,
  ended: {
    readonly execId: string;
    readonly sudo: boolean;
    readonly clientExitCode: number;
    readonly stderr: string;
    readonly signal: AbortSignal;
  },
): Promise<number> => {
  const state = await probeSandbox(access, ended.execId, ended.signal);
  ended.signal.throwIfAborted();
  if (state === "silent") {
    const { problem, details } = await access.diagnose();
    throw new SandboxLostError(access.provider, problem, `${details}\n${ended.stderr}`);
  }
  await access.kill(ended.execId, { sudo: ended.sudo });
  if (state === "running") {
    throw new SandboxLostError(access.provider, "the connection to a running command broke", ended.stderr);
  }
  // Lower codes are the host process's own way to say that something went wrong.
  return ended.clientExitCode >= 125 ? ended.clientExitCode : SIGKILL_EXIT_CODE;
};
