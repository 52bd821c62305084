import { existsSync } from "node:fs";
import { lstat, mkdir, readlink, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidOptionsError, ProcessStartError, SandboxError, SandboxUnavailableError } from "../errors.ts";
import { type Checks, checkedOptions, flag, names, oneOf, text } from "../options/checks/checks.ts";
import { env } from "../options/checks/envVars.ts";
import { absolutePaths } from "../options/checks/sandboxSettings.ts";
import type { EnvVars } from "../options/envVars.ts";
import { hostPath } from "../process/hostPrograms.ts";
import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "../process/kill/processMarks.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import { runProcess } from "../process/runProcess.ts";
import {
  bubblewrapArguments,
  PROGRAMS_PATH,
  ROOT_DIRECTORIES,
  type RootDirectory,
  rootArguments,
} from "./bubblewrap/arguments.ts";
import { programsFor } from "./bubblewrap/programsFor.ts";
import { pinned, refuseReplaceable } from "./bubblewrap/sources.ts";
import type { UserPrograms } from "./bubblewrap/userPrograms.ts";
import {
  type BindMountCreateOptions,
  type BindMountSandboxHandle,
  type BindMountSandboxProvider,
  createBindMountSandboxProvider,
  type SandboxMount,
} from "./contract.ts";
import { bubblewrapDirectory } from "./directories/sandboxDirectories.ts";
import { commandSandbox } from "./exec/commandSandbox.ts";
import { killedOnHost } from "./exec/killedOnHost.ts";
import { inPseudoTerminal, requirePseudoTerminal } from "./exec/pseudoTerminal.ts";
import { NO_ROOT } from "./handle/noRoot.ts";
import { refuseLinkOut } from "./mounts/linkOut.ts";
import { type MountOption, mountOptions, resolveMounts } from "./mounts/options.ts";
import { refuseUnsafeMount } from "./mounts/unsafeMounts.ts";

export type { MountOption };

const NAME = "bubblewrap";
const PROGRAM = "bwrap";
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The processes of bwrap share the terminal with the command in it: a Ctrl-C that is meant for that must not end them. */
const IGNORE_KEYS = `trap '' INT QUIT; exec "$@"`;
/** What is ignored is inherited, and no shell can undo that; where `env` cannot either, it stays so. */
const HEED_KEYS = `if env --default-signal=INT,QUIT true 2>/dev/null; then exec env --default-signal=INT,QUIT "$@"; fi
exec "$@"`;

/** The options of `bubblewrap()`. */
export interface BubblewrapOptions {
  /** `true` or `"host"` shares the host's network, loopback included. There is no network otherwise. */
  readonly network?: boolean | "host" | "none";
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /** Host files and directories that the sandbox sees besides the worktree. */
  readonly mounts?: readonly MountOption[];
  /** Accept mounts that show the home directory, a container engine's socket or the repository's own data. */
  readonly allowUnsafeMounts?: boolean;
  /** More host directories with tools, to be seen at the same path, e.g. `/opt/node`. */
  readonly readOnlyPaths?: readonly string[];
  /**
   * Programs on your PATH that the sandbox sees, read-only and with their installation, wherever they are; the agents that
   * sanddune knows when it is left out, and none if `path` is set.
   */
  readonly programs?: readonly string[];
  /** PATH in the sandbox. */
  readonly path?: string;
}

const OPTIONS: Checks<BubblewrapOptions> = {
  network: oneOf([true, false, "host", "none"]),
  env,
  mounts: mountOptions,
  allowUnsafeMounts: flag,
  readOnlyPaths: absolutePaths,
  programs: names,
  path: text,
};

/** Only the values that are known to mean it: nothing else opens the network. */
const sharesNetwork = ({ network }: BubblewrapOptions): boolean => network === true || network === "host";

const rootDirectories = async (): Promise<RootDirectory[]> => {
  const found = await Promise.all(
    ROOT_DIRECTORIES.map(async (name): Promise<RootDirectory | undefined> => {
      const status = await lstat(`/${name}`).catch(() => undefined);
      if (status === undefined) return undefined;
      return status.isSymbolicLink() ? { name, linkTarget: await readlink(`/${name}`) } : { name };
    }),
  );
  return found.filter((directory) => directory !== undefined);
};

const preflight = async (signal: AbortSignal | undefined): Promise<void> => {
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
        NAME,
        `${PROGRAM} could not be started (${error.errorCode})`,
        "Install it: apt-get install bubblewrap (or dnf, pacman, apk)",
      );
    }
    throw error;
  });
  if (trial.exitCode !== 0) {
    throw new SandboxUnavailableError(
      NAME,
      `this machine does not let ${PROGRAM} make namespaces (${trial.stderr.trim()})`,
      "User namespaces have to be allowed: sysctl kernel.unprivileged_userns_clone=1 (Debian), or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu). Inside a container they usually are not: use another sandbox there.",
    );
  }
};

/** The mounts that the options ask for. What `readOnlyPaths` shows is checked like a mount. */
const userMounts = async (
  settings: BubblewrapOptions,
  { repositoryPath, cwd }: Pick<BindMountCreateOptions, "repositoryPath" | "cwd">,
): Promise<SandboxMount[]> => {
  const { mounts = [], readOnlyPaths = [], allowUnsafeMounts = false } = settings;
  for (const path of readOnlyPaths) {
    if (!existsSync(path)) throw new InvalidOptionsError("readOnlyPaths", `there is no ${path}`);
    if (allowUnsafeMounts) continue;
    await refuseLinkOut("readOnlyPaths", path, repositoryPath);
    await refuseUnsafeMount(
      "readOnlyPaths",
      { hostPath: await realpath(path), readOnly: true },
      repositoryPath,
    );
  }
  return resolveMounts(mounts, { repositoryPath, ...(cwd !== undefined && { cwd }), allowUnsafeMounts });
};

/** Nothing of the host's: the sandbox's pid 1 is a bwrap, and can be looked into from inside. */
const environmentOfBubblewrap = (
  sandboxName: string,
  execId: string | undefined,
): Record<string, string> => ({
  PATH: hostPath(),
  [SANDBOX_VARIABLE]: sandboxName,
  ...(execId !== undefined && { [EXEC_ID_VARIABLE]: execId }),
});

/** A PATH that was asked for comes first; otherwise the user's own programs do, as on the host. */
const pathWith = ({ links }: UserPrograms, { path }: BubblewrapOptions): string => {
  if (links.size === 0) return path ?? DEFAULT_PATH;
  return path === undefined ? `${PROGRAMS_PATH}:${DEFAULT_PATH}` : `${path}:${PROGRAMS_PATH}`;
};

const create = async (
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
  const links = await rootDirectories();

  // The name says whose it is, should sanddune be killed before it can remove it.
  const directory = bubblewrapDirectory(await realpath(tmpdir()), sandboxName);
  const temporaryPath = join(directory, "tmp");
  const homeHostPath = join(directory, "home");
  const remove = () => removeDirectory(directory);
  await mkdir(directory, { mode: 0o700 });
  try {
    await mkdir(temporaryPath);
    await mkdir(homeHostPath);
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
    mounts,
  };
  const checkSources = pinned(
    NAME,
    [...plan.readOnlyPaths, ...own.map(({ hostPath }) => hostPath)],
    options.mounts,
  );

  return commandSandbox({
    provider: NAME,
    name: sandboxName,
    worktreePath,
    fallbackHome: homePath,
    launch: (argv, { sudo, execId, terminal = false }) => {
      if (sudo) throw new SandboxError(NAME, NO_ROOT);
      checkSources();
      const prefix = bubblewrapArguments({ ...plan, terminal });
      const env = environmentOfBubblewrap(sandboxName, execId);
      if (!terminal) return { program: PROGRAM, args: [...prefix, "--", ...argv], env };
      const args = ["-c", IGNORE_KEYS, "sh", PROGRAM, ...prefix, "--", "sh", "-c", HEED_KEYS, "sh", ...argv];
      return inPseudoTerminal({ program: "sh", args, env });
    },
    // The pid namespace dies with the bwrap that is its pid 1. That one does not yet die with its parent, which the
    // host kills, when both have only just been started.
    ...killedOnHost,
    requireTerminal: () => requirePseudoTerminal(NAME),
    diagnose: async () => ({ problem: `${PROGRAM} cannot start commands in it any more`, details: "" }),
    close: remove,
  });
};

/**
 * Sandboxes made of Linux namespaces, without a daemon and without an image: commands see the host's programs
 * read-only, the worktree, a home and a /tmp of their own, and nothing else of the host.
 *
 * Each command has a pid namespace of its own, so background processes end with the command that started them; files
 * stay until the sandbox is closed. What is made in the worktree belongs to the host's user. There is no root (`sudo`).
 *
 * @example
 * await run({ agent, sandbox: bubblewrap({ network: true }), prompt: "Fix issue 7" });
 */
export const bubblewrap = (options: BubblewrapOptions = {}): BindMountSandboxProvider => {
  const settings = checkedOptions(options, OPTIONS);
  return createBindMountSandboxProvider({
    name: NAME,
    ...(settings.env && { env: settings.env }),
    capabilities: { sudo: false, networkPolicy: "on-off" },
    preflight: async ({ usesTerminal, signal, ...place }) => {
      if (usesTerminal) await requirePseudoTerminal(NAME);
      await userMounts(settings, place);
      await programsFor(settings, place.repositoryPath);
      await preflight(signal);
    },
    create: (createOptions) => create(settings, createOptions),
  });
};
