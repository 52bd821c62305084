import { ProcessStartError, SandboxUnavailableError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { runProcess } from "../../process/runProcess.ts";
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
 * Gives a host process its own terminal, which is shown on this process's terminal: a sandbox must not get access to the real
 * one, into which it could type. `script` passes everything on, sizes too.
 */
export const inPseudoTerminal = ({ program, args, env }: HostProcess): HostProcess => ({
  ...hostSystem().inPseudoTerminal([program, ...args]),
  env: { ...env, SHELL: "/bin/sh" },
});
