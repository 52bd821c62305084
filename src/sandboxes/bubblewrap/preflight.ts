import { lstat, readlink } from "node:fs/promises";
import { ProcessStartError, SandboxUnavailableError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import type { PreflightOptions } from "../contract.ts";
import { requirePseudoTerminal } from "../exec/pseudoTerminal.ts";
import { ROOT_DIRECTORIES, type RootDirectory, rootArguments } from "./arguments.ts";
import { BUBBLEWRAP, type BubblewrapOptions, userMounts } from "./options.ts";
import { programsFor } from "./programsFor.ts";

export const PROGRAM = "bwrap";

/** The directories of the host's root that hold programs; on many systems some of them are links. */
export const rootDirectories = async (): Promise<RootDirectory[]> => {
  const found = await Promise.all(
    ROOT_DIRECTORIES.map(async (name): Promise<RootDirectory | undefined> => {
      const status = await lstat(`/${name}`).catch(() => undefined);
      if (status === undefined) return undefined;
      return status.isSymbolicLink() ? { name, linkTarget: await readlink(`/${name}`) } : { name };
    }),
  );
  return found.filter((directory) => directory !== undefined);
};

const tryNamespaces = async (signal: AbortSignal | undefined): Promise<void> => {
  const trial = await runProcess({
    program: PROGRAM,
    args: [
      "--unshare-all",
      ...rootArguments(await rootDirectories()),
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      "true",
    ],
    timeoutMs: 10_000,
    ...(signal && { signal }),
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
): Promise<void> => {
  if (usesTerminal) await requirePseudoTerminal(BUBBLEWRAP);
  await userMounts(settings, place);
  await programsFor(settings, place.repositoryPath);
  await tryNamespaces(signal);
};
