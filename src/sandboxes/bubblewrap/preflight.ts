import { lstatSync, readlinkSync } from "node:fs";
import { ProcessStartError, SandboxUnavailableError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import type { PreflightOptions } from "../contract.ts";
import { requirePseudoTerminal } from "../exec/pseudoTerminal.ts";
import { ROOT_DIRECTORIES, type RootDirectory, rootArguments } from "./arguments.ts";
import { BUBBLEWRAP, type BubblewrapOptions, userMounts } from "./options.ts";
import { programsFor } from "./programsFor.ts";

export const PROGRAM = "bwrap";

/** The directories of the host's root that hold programs; on many systems some of them are links. */
export const rootDirectories = (): RootDirectory[] =>
  ROOT_DIRECTORIES.flatMap((name) => {
    const status = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return [status.isSymbolicLink() ? { name, linkTarget: readlinkSync(`/${name}`) } : { name }];
  });

/** Rejects if this machine does not allow namespaces. */
export const tryNamespaces = async (): Promise<void> => {
  const trial = await runProcess({
    program: PROGRAM,
    args: ["--unshare-all", ...rootArguments(rootDirectories()), "--proc", "/proc", "--dev", "/dev", "true"],
    timeoutMs: 10_000,
  }).catch((error: unknown) => {
    if (error instanceof ProcessStartError) {
      throw new SandboxUnavailableError(
        BUBBLEWRAP,
        `${PROGRAM} could not be started (${error.errorCode})`,
        "Install it: apt-get install bubblewrap (or dnf, pacman, apk)",
      );
    }
    throw error;
  });
  if (trial.exitCode !== 0) {
    throw new SandboxUnavailableError(
      BUBBLEWRAP,
      `this machine does not allow ${PROGRAM} to make namespaces (${trial.stderr.trim()})`,
      "User namespaces have to be allowed: sysctl kernel.unprivileged_userns_clone=1 (Debian), or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu). Inside a container they usually are not: use another sandbox there.",
    );
  }
};

/** Checks, before anything is created, that a sandbox with these options could be made. */
export const bubblewrapPreflight = async (
  settings: BubblewrapOptions,
  { usesTerminal, signal, ...place }: PreflightOptions,
  requireNamespaces: () => Promise<void>,
): Promise<void> => {
  signal?.throwIfAborted();
  if (usesTerminal) await requirePseudoTerminal(BUBBLEWRAP);
  await userMounts(settings, place);
  await programsFor(settings, place.repositoryPath);
  await orAborted(requireNamespaces(), signal);
};
