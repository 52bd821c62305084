import type { EnvVars } from "../envVars.ts";
import {
  type CloudNetwork,
  checkNetwork,
  cloudTimes,
  isText,
  refuseOption,
  refuseUnknownOptions,
} from "./cloudOptions.ts";
import type { SandboxTimes } from "./sandboxTimes.ts";

export interface VercelOptions {
  /** An image of Vercel's, or one of your own in its registry; `vercel/sandbox/universal` when it is left out. */
  readonly image?: string;
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /**
   * How long a sandbox may last at most; 24 hours when it is left out. Vercel may allow less, depending on the plan. Either
   * way, commands are ended in time for their work to come home.
   */
  readonly lifetimeMs?: number;
  /** How long a sandbox outlives the process that made it, should that die; 10 minutes when it is left out. */
  readonly leaseMs?: number;
  /** Virtual CPUs, with 2 GiB of memory each; Vercel's default when it is left out. */
  readonly vcpus?: number;
  /** `"none"`, or what may be reached; everything when it is left out. */
  readonly network?: "none" | CloudNetwork;
}

/** The options, checked and complete. */
export interface VercelSettings extends SandboxTimes {
  readonly image?: string;
  readonly vcpus?: number;
  readonly network?: "none" | CloudNetwork;
}

const OPTIONS: readonly (keyof VercelOptions)[] = [
  "image",
  "env",
  "lifetimeMs",
  "leaseMs",
  "vcpus",
  "network",
];

/** Checks the options of `vercel()`; throws an `InvalidOptionsError` that names the wrong one. */
export const vercelSettings = (options: VercelOptions): VercelSettings => {
  refuseUnknownOptions(options, OPTIONS);
  const { image, vcpus, network } = options;
  if (image !== undefined && !isText(image)) {
    refuseOption("image", 'must be the name of an image, e.g. "vercel/sandbox/universal"');
  }
  if (vcpus !== undefined && !(Number.isInteger(vcpus) && vcpus >= 1)) {
    refuseOption("vcpus", "must be a whole number, 1 or more");
  }
  checkNetwork(network);
  return { image, vcpus, network, ...cloudTimes(options) };
};
