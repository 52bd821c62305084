import { ProcessStartError, SandboxUnavailableError } from "../errors.ts";
import { runProcess } from "../process/runProcess.ts";
import { shellQuote } from "../process/shellQuote.ts";
import type { HostProcess } from "./sandboxAccess.ts";

const PROGRAM = "script";

/** Rejects with a `SandboxUnavailableError` if there is nothing on this machine that makes pseudo terminals. */
export const requirePseudoTerminal = async (provider: string): Promise<void> => {
  await runProcess({ program: PROGRAM, args: ["--version"], timeoutMs: 10_000 }).catch((error: unknown) => {
    if (!(error instanceof ProcessStartError)) throw error;
    throw new SandboxUnavailableError(
      provider,
      `interactive sessions need ${PROGRAM}, which could not be started (${error.errorCode})`,
      "Install it: apt-get install bsdutils (or util-linux, or util-linux-script)",
    );
  });
};

/**
 * Gives a host process a terminal of its own, shown on the one that this process has: whoever is in a sandbox must not
 * get hold of the real one, into which it could type. `script` passes everything on, sizes too.
 */
export const inPseudoTerminal = ({ program, args, env }: HostProcess): HostProcess => ({
  program: PROGRAM,
  args: [
    "--quiet",
    "--return",
    "--flush",
    "--command",
    `exec ${[program, ...args].map(shellQuote).join(" ")}`,
    "/dev/null",
  ],
  env: { ...env, SHELL: "/bin/sh" },
});
