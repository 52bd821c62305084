import { mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxError } from "../../errors.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { BindMountCreateOptions, BindMountSandboxHandle } from "../contract.ts";
import { keepDirectories, makeDirectories } from "../directories/directorySnapshot.ts";
import { commandSandbox } from "../exec/commandSandbox.ts";
import { killOnHost } from "../exec/killOnHost.ts";
import { inPseudoTerminal, requirePseudoTerminal } from "../exec/pseudoTerminal.ts";
import { NO_ROOT } from "../handle/noRoot.ts";
import { bubblewrapArguments, PROGRAMS_PATH } from "./arguments.ts";
import { bubblewrapDirectory } from "./directory.ts";
import { pinned, refuseReplaceable } from "./mountSources.ts";
import { BUBBLEWRAP, type BubblewrapOptions, sharesNetwork, userMounts } from "./options.ts";
import { type OpenedMounts, openOverlays } from "./overlayMounts.ts";
import { PROGRAM, rootDirectories } from "./preflight.ts";
import { programsFor } from "./programsFor.ts";
import type { UserPrograms } from "./userPrograms.ts";

/** All that commands can write to besides mounts. */
const PARTS = ["tmp", "home"] as const;

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The processes of bwrap share the terminal with the command: Ctrl-C is for the command, and must not end them. */
const IGNORE_KEYS = `trap '' INT QUIT; exec "$@"`;
/** Ignored signals are inherited, which a shell cannot undo. `env` can, where it supports that. */
const HEED_KEYS = `if env --default-signal=INT,QUIT true 2>/dev/null; then exec env --default-signal=INT,QUIT "$@"; fi
exec "$@"`;

/** No env var of the host: commands can read the environment of the sandbox's pid 1, which is a bwrap. */
const environmentOfBubblewrap = (
  sandboxName: string,
  execId: string | undefined,
): Record<string, string> => ({
  PATH: hostPath(),
  [SANDBOX_VARIABLE]: sandboxName,
  ...(execId !== undefined && { [EXEC_ID_VARIABLE]: execId }),
});

/** The PATH of the options comes first; without one, the user's own programs do, as on the host. */
const pathWith = ({ links }: UserPrograms, { path }: BubblewrapOptions): string => {
  if (links.size === 0) return path ?? DEFAULT_PATH;
  return path === undefined ? `${PROGRAMS_PATH}:${DEFAULT_PATH}` : `${path}:${PROGRAMS_PATH}`;
};

/** Makes a sandbox. Nothing is left behind when that fails or is aborted. */
export const createBubblewrapSandbox = async (
  settings: BubblewrapOptions,
  options: BindMountCreateOptions,
): Promise<BindMountSandboxHandle> => {
  options.signal?.throwIfAborted();
  const { sandboxName, homePath, worktreePath } = options;
  const own = await userMounts(settings, options);
  const mounts = [...options.mounts, ...own];
  const { readOnlyPaths = [] } = settings;
  if (settings.allowUnsafeMounts !== true) {
    const ownPaths = own.map(({ hostPath }) => hostPath);
    await refuseReplaceable("mounts", ownPaths, mounts);
    await refuseReplaceable("readOnlyPaths", readOnlyPaths, mounts);
  }
  const programs = await programsFor(settings, options.repositoryPath);
  const links = rootDirectories();

  // The name identifies the sandbox, if sanddune is killed before it can remove the directory.
  const directory = bubblewrapDirectory(await realpath(tmpdir()), sandboxName);
  const temporaryPath = join(directory, "tmp");
  const homeHostPath = join(directory, "home");
  let opened: OpenedMounts = { mounts, overlay: undefined };
  const remove = async () => {
    await opened.overlay?.close();
    await removeDirectory(directory);
  };
  await mkdir(directory, { mode: 0o700 });
  try {
    const { snapshot, signal } = options;
    await makeDirectories(directory, PARTS, { provider: BUBBLEWRAP, snapshot, signal });
    opened = await openOverlays(mounts, directory);
    options.signal?.throwIfAborted();
  } catch (error) {
    await remove();
    throw error;
  }

  const plan = {
    sandboxName,
    rootDirectories: links,
    temporaryPath,
    homeHostPath,
    homePath,
    path: pathWith(programs, settings),
    programs: programs.links,
    network: sharesNetwork(settings),
    readOnlyPaths: [...programs.paths, ...readOnlyPaths],
    mounts: opened.mounts,
    // In the namespace of an overlay, an ordinary user is root.
    user: opened.overlay?.user,
  };
  const { inside = (argv: readonly string[]) => argv } = opened.overlay ?? {};
  const checkSources = pinned(
    BUBBLEWRAP,
    [...plan.readOnlyPaths, ...own.map(({ hostPath }) => hostPath)],
    options.mounts,
  );

  return commandSandbox({
    provider: BUBBLEWRAP,
    name: sandboxName,
    worktreePath,
    fallbackHome: homePath,
    launch: (argv, { sudo, execId, terminal = false }) => {
      if (sudo) throw new SandboxError(BUBBLEWRAP, NO_ROOT);
      checkSources();
      const prefix = bubblewrapArguments({ ...plan, terminal });
      const env = environmentOfBubblewrap(sandboxName, execId);
      if (!terminal) {
        const [program = PROGRAM, ...args] = inside([PROGRAM, ...prefix, "--", ...argv]);
        return { program, args, env };
      }
      const args = [
        "-c",
        IGNORE_KEYS,
        "sh",
        ...inside([PROGRAM, ...prefix]),
        "--",
        "sh",
        "-c",
        HEED_KEYS,
        "sh",
        ...argv,
      ];
      return inPseudoTerminal({ program: "sh", args, env });
    },
    // The pid namespace dies with the bwrap that is its pid 1. That one does not yet die with its parent, which the
    // host kills, when both have only just been started.
    ...killOnHost,
    requireTerminal: () => requirePseudoTerminal(BUBBLEWRAP),
    snapshot: (snapshot) => keepDirectories(directory, PARTS, snapshot),
    diagnose: async () => ({ problem: `${PROGRAM} can no longer start commands in it`, details: "" }),
    close: remove,
  });
};
