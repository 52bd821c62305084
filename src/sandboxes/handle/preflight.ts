import { SandboxUnavailableError, SandduneError } from "../../errors.ts";
import type { PreflightOptions, SandboxCapabilities, SandboxProvider } from "../contract.ts";
import { requireCapabilities } from "./requireCapabilities.ts";

/** Checks that a sandbox with the needed capabilities can be made. Rejects with a `SandduneError`. */
export const preflight = async (
  sandbox: SandboxProvider,
  options: PreflightOptions,
  needs: SandboxCapabilities = {},
): Promise<void> => {
  const { usesSudo = false, usesTerminal = false } = options;
  requireCapabilities(sandbox, {
    ...needs,
    sudo: usesSudo || (needs.sudo ?? false),
    terminal: usesTerminal || (needs.terminal ?? false),
  });
  try {
    await sandbox.preflight?.(options);
  } catch (reason) {
    options.signal?.throwIfAborted();
    if (reason instanceof SandduneError) throw reason;
    throw new SandboxUnavailableError(
      sandbox.name,
      String(reason),
      "See the sandbox provider's documentation.",
    );
  }
};
