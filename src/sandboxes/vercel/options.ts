import { type Checks, checkedOptions, count, milliseconds, text } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";
import { consistentTimes, type SandboxTimes } from "../exec/sandboxTimes.ts";
import { type ServiceLimits, serviceLimits } from "../services/serviceLimits.ts";
import { type CloudNetwork, cloudNetwork, cloudTime } from "../services/serviceOptions.ts";

/** The options of `vercel()`. */
export interface VercelOptions {
  /** An image of Vercel's, or one of your own in its registry; `vercel/sandbox/universal` when it is left out. */
  readonly imageName?: string;
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
  /** How long Vercel may take to answer a request; 20 seconds when it is left out. */
  readonly requestTimeoutMs?: number;
  /** How long making a sandbox may take, while Vercel has no room included; 2 minutes when it is left out. */
  readonly createTimeoutMs?: number;
}

/** The options, checked and complete. */
export interface VercelSettings extends SandboxTimes, ServiceLimits {
  readonly imageName?: string;
  readonly vcpus?: number;
  readonly network?: "none" | CloudNetwork;
}

const OPTIONS: Checks<VercelOptions> = {
  imageName: text,
  env,
  lifetimeMs: cloudTime,
  leaseMs: cloudTime,
  vcpus: count,
  network: cloudNetwork,
  requestTimeoutMs: milliseconds,
  createTimeoutMs: milliseconds,
};

/** Checks the options of `vercel()`; throws an `InvalidOptionsError` that names the wrong one. */
export const vercelSettings = (options: VercelOptions): VercelSettings => {
  const { imageName, vcpus, network, ...times } = checkedOptions(options, OPTIONS);
  return { imageName, vcpus, network, ...consistentTimes(times), ...serviceLimits(times) };
};
