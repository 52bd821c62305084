import { ProcessTimeoutError, SandboxLostError } from "../../errors.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import {
  CAPTURE_BYTES,
  EXIT_KILLED,
  EXIT_NOT_FOUND,
  EXIT_TIMEOUT,
  type ScenarioCommand,
  type ScenarioCommandResult,
} from "./commandRunner.ts";

/** Runs a program in a sandbox. `exec` keeps the shell in between from taking it for a built-in command. */
export const runInSandbox = async (
  handle: SandboxHandle,
  cwd: string,
  { argv, env = {}, timeoutMs, signal }: ScenarioCommand,
): Promise<ScenarioCommandResult> => {
  try {
    const { exitCode, stdout, stderr } = await handle.exec(`exec ${argv.map(shellQuote).join(" ")}`, {
      ...{ cwd, env, timeoutMs, signal },
      captureBytes: CAPTURE_BYTES,
    });
    // The shell prints this message; a program that ends with that code does not.
    const isMissing = exitCode === EXIT_NOT_FOUND && stderr.includes(`exec: ${argv[0]}: not found`);
    return { code: exitCode, stdout, stderr, ...(isMissing && { isMissing }) };
  } catch (error) {
    if (error instanceof SandboxLostError && error.isByCommands) {
      return { code: EXIT_KILLED, stdout: "", stderr: error.message };
    }
    if (!(error instanceof ProcessTimeoutError)) throw error;
    return {
      code: EXIT_TIMEOUT,
      stdout: error.stdout,
      stderr: `${error.stderr}\nIt took longer than ${timeoutMs} ms.`,
    };
  }
};
