import {
  aboveZero,
  type Check,
  type Checks,
  checkedOptions,
  count,
  flag,
  names,
  oneOf,
  text,
  texts,
} from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import { memory, network } from "../../options/checks/sandboxSettings.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type {
  BindMountSandboxProvider,
  IsolatedSandboxProvider,
  SandboxCreateOptions,
  SandboxMount,
} from "../contract.ts";
import { timeWithin } from "../exec/sandboxTimes.ts";
import { type MountOption, mountOptions, resolveMounts } from "../mounts/resolveMounts.ts";
import { remoteHostsOf } from "../remote/remoteHost.ts";
import { defaultImage } from "./arguments.ts";

/** Options of containers on this and on other machines. */
export interface AnyContainerOptions {
  /** `sanddune:<name of the repository's directory>` when it is left out. It needs `sh`, `env` and `grep`. */
  readonly imageName?: string;
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /** The networks to connect to; the engine's default network when it is left out. */
  readonly network?: string | readonly string[];
  /** Memory limit, swap included, e.g. `"4g"`. */
  readonly memory?: string;
  /** How many CPUs the sandbox may use; all when it is left out. */
  readonly cpus?: number;
  /** How many processes and threads there may be; 4096 when it is left out. */
  readonly pids?: number;
  /**
   * Capabilities to have in spite of `--cap-drop ALL`. A run with a hook that uses `sudo` has those that installing
   * packages takes, too: CHOWN, DAC_OVERRIDE, FOWNER, SETGID and SETUID. Only root can use them: the agent cannot,
   * unless sanddune runs as root or the daemon is rootless.
   */
  readonly capabilities?: readonly string[];
  /** More arguments for the engine's `run`, e.g. `["--gpus", "all"]`. */
  readonly extraArgs?: readonly string[];
  /**
   * The user of commands: `uid:gid`, or a name that the image knows. When it is left out: the host's user on this machine,
   * the image's user on another one.
   */
  readonly user?: string;
}

/** Containers of this machine's engine. */
export interface ContainerOptions extends AnyContainerOptions {
  readonly host?: undefined;
  /** Host files and directories that the sandbox sees besides the worktree. */
  readonly mounts?: readonly MountOption[];
  /** Accept mounts that show the home directory, a container engine's socket or the repository's own data. */
  readonly allowUnsafeMounts?: boolean;
  /** SELinux label of all bind mounts: shared (`z`), private (`Z`) or none. */
  readonly selinuxLabel?: "z" | "Z" | false;
  readonly leaseMs?: undefined;
  readonly lifetimeMs?: undefined;
}

/** Containers on other machines, which do not see the host's files. */
export interface RemoteContainerOptions extends AnyContainerOptions {
  /**
   * Where the engine is: `ssh://user@machine`, with `:port` and the path of the engine's socket if need be, or
   * `tcp://machine:port`. Of several, each sandbox goes to the one that has the fewest.
   */
  readonly host: string | readonly string[];
  /** How long a sandbox outlives the process that made it, should that die; 10 minutes when it is left out. */
  readonly leaseMs?: number;
  /** How long a sandbox may last at most; 24 hours when it is left out. */
  readonly lifetimeMs?: number;
  readonly mounts?: undefined;
  readonly allowUnsafeMounts?: undefined;
  readonly selinuxLabel?: undefined;
}

/** Makes sandbox providers of an engine: of this machine's, or of those on other machines. */
export interface ContainerSandboxes {
  (settings?: ContainerOptions): BindMountSandboxProvider;
  (settings: RemoteContainerOptions): IsolatedSandboxProvider;
}

/** The engine would read a leading hyphen as an option. */
const imageName: Check = (value) =>
  text(value) === undefined && !/^-|\s/.test(value as string)
    ? undefined
    : 'must be the name of an image, e.g. "sanddune:my-app"';
const host: Check = (value) => {
  remoteHostsOf(value);
  return undefined;
};
/** Shorter times would end before the sandbox is ready. */
const time = timeWithin({ shortestMs: 10_000, longestMs: Number.POSITIVE_INFINITY });

const OPTIONS: Checks<ContainerOptions> & Checks<RemoteContainerOptions> = {
  imageName,
  env,
  network,
  memory,
  cpus: aboveZero,
  pids: count,
  capabilities: names,
  extraArgs: texts,
  user: text,
  host,
  mounts: mountOptions,
  allowUnsafeMounts: flag,
  selinuxLabel: oneOf(["z", "Z", false]),
  leaseMs: time,
  lifetimeMs: time,
};

/** The options of `docker()` and `podman()`, checked one by one. */
export const checkedContainerOptions = <Options extends ContainerOptions | RemoteContainerOptions>(
  options: Options,
): Options => checkedOptions<ContainerOptions | RemoteContainerOptions>(options, OPTIONS) as Options;

export const imageOf = (settings: AnyContainerOptions, repositoryPath: string): string =>
  settings.imageName ?? defaultImage(repositoryPath);

export const networksOf = ({ network }: AnyContainerOptions): readonly string[] =>
  network === undefined ? [] : typeof network === "string" ? [network] : network;

export const mountsOf = (
  settings: ContainerOptions,
  place: Pick<SandboxCreateOptions, "repositoryPath" | "cwd">,
): Promise<SandboxMount[]> =>
  resolveMounts(settings.mounts ?? [], {
    ...place,
    allowUnsafeMounts: settings.allowUnsafeMounts ?? false,
  });

/** The capabilities that root needs to install packages. */
const SUDO_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"] as const;

export const capabilitiesOf = (settings: AnyContainerOptions, usesSudo: boolean): readonly string[] => [
  ...new Set([...(settings.capabilities ?? []), ...(usesSudo ? SUDO_CAPABILITIES : [])]),
];
