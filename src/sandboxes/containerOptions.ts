import type { EnvVars } from "../envVars.ts";
import { defaultImage } from "./containerArguments.ts";
import type { SandboxMount } from "./contract.ts";
import { type MountOption, resolveMounts } from "./mountOptions.ts";

export interface ContainerOptions {
  /** `sanddune:<name of the repository's directory>` when it is left out. It needs `sh`, `env` and `grep`. */
  readonly image?: string;
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  readonly mounts?: readonly MountOption[];
  /** Accept mounts of the home directory or of a container engine's socket. */
  readonly allowUnsafeMounts?: boolean;
  /** The networks to connect to; the engine's default network when it is left out. */
  readonly network?: string | readonly string[];
  /** Memory limit, swap included, e.g. `"4g"`. */
  readonly memory?: string;
  readonly cpus?: number;
  /** How many processes and threads there may be; 4096 when it is left out. */
  readonly pids?: number;
  /** SELinux label of all bind mounts: shared (`z`), private (`Z`) or none. */
  readonly selinuxLabel?: "z" | "Z" | false;
  /**
   * Capabilities to have in spite of `--cap-drop ALL`. A run with a hook that uses `sudo` has those that installing
   * packages takes, too: CHOWN, DAC_OVERRIDE, FOWNER, SETGID and SETUID. Only root can use them: the agent cannot,
   * unless sanddune runs as root or the daemon is rootless.
   */
  readonly capabilities?: readonly string[];
  /** More arguments for the engine's `run`, e.g. `["--gpus", "all"]`. */
  readonly extraArgs?: readonly string[];
  /** Who commands run as, `uid:gid`; the host's user when it is left out. */
  readonly user?: string;
}

export const imageOf = (settings: ContainerOptions, repositoryPath: string): string =>
  settings.image ?? defaultImage(repositoryPath);

export const networksOf = ({ network }: ContainerOptions): readonly string[] =>
  network === undefined ? [] : typeof network === "string" ? [network] : network;

export const mountsOf = (settings: ContainerOptions, repositoryPath: string): Promise<SandboxMount[]> =>
  resolveMounts(settings.mounts ?? [], {
    repositoryPath,
    allowUnsafeMounts: settings.allowUnsafeMounts ?? false,
  });

/** What root needs in order to install packages. */
const SUDO_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"] as const;

export const capabilitiesOf = (settings: ContainerOptions, usesSudo: boolean): readonly string[] => [
  ...new Set([...(settings.capabilities ?? []), ...(usesSudo ? SUDO_CAPABILITIES : [])]),
];
