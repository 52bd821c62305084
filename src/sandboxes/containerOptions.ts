import { defaultImage } from "./containerArguments.ts";
import type { SandboxMount } from "./contract.ts";
import { type MountOption, resolveMounts } from "./mountOptions.ts";

export interface ContainerOptions {
  /** `sanddune:<name of the repository's directory>` when it is left out. It needs `sh`, `env` and `grep`. */
  readonly image?: string;
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
   * Capabilities to have in spite of `--cap-drop ALL`. Root in the sandbox (`sudo`) has none either: installing
   * packages takes `["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]`.
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
