import {
  aboveZero,
  type Check,
  type Checks,
  checkedOptions,
  names,
  text,
} from "../../options/checks/checks.ts";
import { MINUTE_MS } from "../exec/sandboxTimes.ts";
import { type ServiceLimits, serviceLimits } from "../services/serviceLimits.ts";
import { type CloudNetwork, SERVICE_CHECKS, type ServiceOptions } from "../services/serviceOptions.ts";

/** The options of `modal()`. */
export interface ModalOptions extends ServiceOptions {
  /** The Modal app that the sandboxes belong to. It is made if it is missing; `sanddune` when it is left out. */
  readonly app?: string;
  /**
   * An image of a public registry, or the id of one that Modal has built (`im-…`); `node:22` when it is left out. It needs
   * `sh`, `env`, `grep`, `tar` and git.
   */
  readonly imageName?: string;
  /** Lines of a Dockerfile that Modal builds on top of the image, once, e.g. `["RUN npm install -g some-agent"]`. */
  readonly dockerfileCommands?: readonly string[];
  /** When Modal ends a sandbox, at the latest. It cannot be extended later. 4 hours when it is left out, at most 24. */
  readonly lifetimeMs?: number;
  /** CPU cores, reserved and at most; Modal's default when it is left out. */
  readonly cpus?: number;
  /** Memory, reserved and at most, e.g. `"4g"`; Modal's default when it is left out. */
  readonly memory?: string;
  /** How long making a sandbox may take once its image is built; 10 minutes when it is left out. */
  readonly createTimeoutMs?: number;
}

/** The options, checked and complete. */
export interface ModalSettings extends ServiceLimits {
  readonly app: string;
  readonly imageName: string;
  readonly dockerfileCommands: readonly string[];
  readonly lifetimeMs: number;
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly network?: "none" | CloudNetwork;
}

/** Longer than for other services: it cannot be extended while the sandbox is in use. */
const DEFAULT_LIFETIME_MS = 240 * MINUTE_MS;
/** Modal answers when it has found a machine. */
const DEFAULT_CREATE_MS = 10 * MINUTE_MS;
export const APP_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const MEMORY = /^(\d+)([mg])$/i;
const SMALLEST_MEMORY_MIB = 128;

const mebibytesOf = (memory: unknown): number => {
  const [, number, unit] = MEMORY.exec(typeof memory === "string" ? memory : "") ?? [];
  return Number(number) * (unit?.toLowerCase() === "g" ? 1024 : 1);
};

const app: Check = (value) =>
  typeof value === "string" && APP_NAME.test(value)
    ? undefined
    : "must be made of at most 64 letters, digits, dots, dashes and underscores";
const memory: Check = (value) =>
  mebibytesOf(value) >= SMALLEST_MEMORY_MIB
    ? undefined
    : `must be an amount like "4g" or "512m", of at least ${SMALLEST_MEMORY_MIB}m`;

const OPTIONS: Checks<ModalOptions> = {
  app,
  imageName: text,
  dockerfileCommands: names,
  cpus: aboveZero,
  memory,
  ...SERVICE_CHECKS,
};

/** Checks the options of `modal()`; throws an `InvalidOptionsError` that names the wrong one. */
export const modalSettings = (options: ModalOptions): ModalSettings => {
  const given = checkedOptions(options, OPTIONS);
  const { lifetimeMs = DEFAULT_LIFETIME_MS } = given;
  return {
    app: given.app ?? "sanddune",
    imageName: given.imageName ?? "node:22",
    dockerfileCommands: given.dockerfileCommands ?? [],
    // Modal counts in seconds.
    lifetimeMs: Math.ceil(lifetimeMs / 1000) * 1000,
    cpus: given.cpus,
    ...(given.memory !== undefined && { memoryMiB: mebibytesOf(given.memory) }),
    network: given.network,
    ...serviceLimits({ createTimeoutMs: DEFAULT_CREATE_MS, ...given }),
  };
};
