import type { EnvVars } from "../envVars.ts";
import {
  type CloudNetwork,
  checkLifetime,
  checkNetwork,
  isText,
  refuseOption,
  refuseUnknownOptions,
} from "./cloudOptions.ts";
import { MINUTE_MS } from "./sandboxTimes.ts";

export interface ModalOptions {
  /** The Modal app that the sandboxes belong to. It is made if it is missing; `sanddune` when it is left out. */
  readonly app?: string;
  /**
   * An image of a public registry, or the id of one that Modal has built (`im-…`); `node:22` when it is left out. It needs
   * `sh`, `env`, `grep`, `tar` and git.
   */
  readonly image?: string;
  /** Lines of a Dockerfile that Modal builds on top of the image, once, e.g. `["RUN npm install -g some-agent"]`. */
  readonly dockerfileCommands?: readonly string[];
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /** When Modal ends a sandbox, at the latest. It cannot be put off later. 4 hours when it is left out, at most 24. */
  readonly lifetimeMs?: number;
  /** CPU cores, reserved and at most; Modal's default when it is left out. */
  readonly cpus?: number;
  /** Memory, reserved and at most, e.g. `"4g"`; Modal's default when it is left out. */
  readonly memory?: string;
  /** `"none"`, or what may be reached; everything when it is left out. */
  readonly network?: "none" | CloudNetwork;
}

/** The options, checked and complete. */
export interface ModalSettings {
  readonly app: string;
  readonly image: string;
  readonly dockerfileCommands: readonly string[];
  readonly lifetimeMs: number;
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly network?: "none" | CloudNetwork;
}

/** Longer than elsewhere: it cannot be put off while the sandbox is in use. */
const DEFAULT_LIFETIME_MS = 240 * MINUTE_MS;
const KNOWN = [
  "app",
  "image",
  "dockerfileCommands",
  "env",
  "lifetimeMs",
  "cpus",
  "memory",
  "network",
] as const;
export const APP_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const MEMORY = /^(\d+)([mg])$/i;
const SMALLEST_MEMORY_MIB = 128;

const mebibytesOf = (memory: unknown): number => {
  const [, number, unit] = MEMORY.exec(typeof memory === "string" ? memory : "") ?? [];
  const mebibytes = Number(number) * (unit?.toLowerCase() === "g" ? 1024 : 1);
  return mebibytes >= SMALLEST_MEMORY_MIB
    ? mebibytes
    : refuseOption("memory", `must be an amount like "4g" or "512m", of at least ${SMALLEST_MEMORY_MIB}m`);
};

/** Checks the options of `modal()`; throws an `InvalidOptionsError` that names the wrong one. */
export const modalSettings = (options: ModalOptions): ModalSettings => {
  refuseUnknownOptions(options, KNOWN);
  const { app = "sanddune", image = "node:22", dockerfileCommands = [], cpus, memory, network } = options;
  const { lifetimeMs = DEFAULT_LIFETIME_MS } = options;
  if (typeof app !== "string" || !APP_NAME.test(app)) {
    refuseOption("app", "must be made of at most 64 letters, digits, dots, dashes and underscores");
  }
  if (!isText(image)) refuseOption("image", 'must be the name of an image, e.g. "node:22"');
  if (!Array.isArray(dockerfileCommands) || !dockerfileCommands.every(isText)) {
    refuseOption("dockerfileCommands", "must be a list of lines of a Dockerfile");
  }
  checkLifetime(lifetimeMs);
  if (cpus !== undefined && !(Number.isFinite(cpus) && cpus > 0)) {
    refuseOption("cpus", "must be a positive number");
  }
  checkNetwork(network);
  return {
    app,
    image,
    dockerfileCommands,
    // Modal counts in seconds.
    lifetimeMs: Math.ceil(lifetimeMs / 1000) * 1000,
    cpus,
    ...(memory !== undefined && { memoryMiB: mebibytesOf(memory) }),
    network,
  };
};
