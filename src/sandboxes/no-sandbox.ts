import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { SandboxError } from "../errors.ts";
import { type Checks, checkedOptions } from "../options/checks/checks.ts";
import { env } from "../options/checks/envVars.ts";
import type { EnvVars } from "../options/envVars.ts";
import { EXEC_ID_VARIABLE } from "../process/kill/processMarks.ts";
import type { NoSandboxProvider } from "./contract.ts";
import { commandSandbox } from "./exec/commandSandbox.ts";
import { killOnHost } from "./exec/killOnHost.ts";

const NAME = "no-sandbox";

/** The options of `noSandbox()`. */
export interface NoSandboxOptions {
  /** Env vars for every command of a session. */
  readonly env?: EnvVars;
}

const OPTIONS: Checks<NoSandboxOptions> = { env };

/**
 * No sandbox: the agent works on the host, as the host's user, with the host's environment, and asks before it does
 * anything. For sessions that a person watches: `run()` and `createSandbox()` refuse it.
 *
 * @example
 * await interactive({ agent, sandbox: noSandbox(), prompt: "Look into issue 7" });
 */
export const noSandbox = (options: NoSandboxOptions = {}): NoSandboxProvider => ({
  type: "none",
  name: NAME,
  ...checkedOptions(options, OPTIONS),
  create: async ({ worktreePath, environment }) =>
    commandSandbox({
      provider: NAME,
      name: NAME,
      worktreePath,
      fallbackHome: worktreePath,
      // Commands start in other directories.
      temporaryPath: resolve(tmpdir()),
      isHost: true,
      launch: ([program = "sh", ...args], { sudo, execId }) => {
        if (sudo) throw new SandboxError(NAME, "nothing is run as root on the host");
        return {
          program,
          args,
          env: { ...environment, ...(execId !== undefined && { [EXEC_ID_VARIABLE]: execId }) },
        };
      },
      ...killOnHost,
      diagnose: async () => ({ problem: "commands can no longer be started", details: "" }),
      // Processes that the agent has left running belong to its user.
      close: async () => {},
    }),
});
