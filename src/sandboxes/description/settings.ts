import { aboveZero, type Check } from "../../options/checks/checks.ts";
import { type MountOption, mountOptions } from "../../options/checks/mounts.ts";
import * as checks from "../../options/checks/sandboxSettings.ts";

/** The kinds of values that a flag can have. The command line knows how to read each of them. */
interface KindValues {
  readonly text: string;
  /** A repeatable flag. */
  readonly texts: readonly string[];
  readonly switch: boolean;
  /** A number above 0. */
  readonly number: number;
  /** A whole number above 0. */
  readonly count: number;
  /** Typed in seconds, passed on in milliseconds. */
  readonly duration: number;
  readonly mounts: readonly MountOption[];
  /** Addresses of container engines. */
  readonly hosts: readonly string[];
}

/**
 * A setting of sandboxes for the command line, where no program calls the provider: a flag, and a key of the project
 * config if `config` is set. Providers list their settings by the name of the option that they set.
 */
export interface SandboxSetting {
  /** As help shows it, e.g. `--memory <size>`. */
  readonly flag: string;
  readonly help: string;
  readonly kind: keyof KindValues;
  readonly choices?: readonly string[];
  /**
   * Checks the value in the project config. Leave it out for settings that take protection away or send the work
   * elsewhere: a file that comes with the repository must not set them.
   */
  readonly config?: Check;
  /** Whether a value in the project config opens this machine to the sandbox, so that the user has to trust it. */
  needsTrust?(value: unknown): boolean;
  /** Commands that open sandboxes for something else than a run have the flag as well. */
  readonly isGeneral?: boolean;
  /** The provider's own name of the option, where it differs. */
  readonly option?: string;
}

export type SandboxSettings = Readonly<Record<string, SandboxSetting>>;

/** The values of settings that were given. */
export type SettingValues<Settings extends SandboxSettings> = {
  readonly [Name in keyof Settings]?: KindValues[Settings[Name]["kind"]] | undefined;
};

export const imageName = {
  flag: "--image-name <name>",
  help: "image of the container (default: sanddune:<the directory's name>)",
  kind: "text",
  isGeneral: true,
} as const satisfies SandboxSetting;

export const network = {
  flag: "--network <name>",
  help: "network of the container (repeatable); bubblewrap: `host`, `none`",
  kind: "texts",
  config: checks.network,
  needsTrust: (value) => [value].flat().some((name) => name !== "none"),
  isGeneral: true,
} as const satisfies SandboxSetting;

export const mounts = {
  flag: "--mount <host:path>",
  help: "mount a host file or directory in the sandbox; host:path:ro makes it read-only (repeatable)",
  kind: "mounts",
  config: mountOptions,
  needsTrust: () => true,
  isGeneral: true,
} as const satisfies SandboxSetting;

export const allowUnsafeMounts = {
  flag: "--allow-unsafe-mounts",
  help: "allow mounts of your home, an engine's socket, the checkout or .git",
  kind: "switch",
} as const satisfies SandboxSetting;

export const memory = {
  flag: "--memory <size>",
  help: "memory of the container, swap included, e.g. 4g",
  kind: "text",
  config: checks.memory,
} as const satisfies SandboxSetting;

export const cpus = {
  flag: "--cpus <n>",
  help: "processors of the container, e.g. 1.5",
  kind: "number",
  config: aboveZero,
} as const satisfies SandboxSetting;

export const user = {
  flag: "--user <uid:gid>",
  help: "user of commands in the container (default: you; with --host: the image's user)",
  kind: "text",
} as const satisfies SandboxSetting;

export const lifetimeMs = {
  flag: "--lifetime <seconds>",
  help: "maximum lifetime of a sandbox on another machine",
  kind: "duration",
} as const satisfies SandboxSetting;

/** The flag of a setting, as it is typed: `--image-name`. */
export const flagOf = ({ flag }: SandboxSetting): string => flag.replace(/ .*/, "");

/** The name under which the parser passes a flag on: `imageName`. */
export const flagKeyOf = (setting: SandboxSetting): string =>
  flagOf(setting)
    .slice(2)
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
