import { type Checks, checkedOptions, milliseconds, text } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";
import { consistentTimes, type SandboxTimes } from "../exec/sandboxTimes.ts";
import { type ServiceLimits, serviceLimits } from "../services/serviceLimits.ts";
import { type CloudNetwork, cloudNetwork, cloudTime } from "../services/serviceOptions.ts";

/** The options of `e2b()`. */
export interface E2bOptions {
  /** The name or id of a template, which also says how many CPUs and how much memory there are; `base` when it is left out. */
  readonly template?: string;
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /**
   * How long a sandbox may last at most; 24 hours when it is left out. E2B may allow less, depending on the plan. Either
   * way, commands are ended in time for their work to come home.
   */
  readonly lifetimeMs?: number;
  /** How long a sandbox outlives the process that made it, should that die; 10 minutes when it is left out. */
  readonly leaseMs?: number;
  /** `"none"`, or what may be reached; everything when it is left out. */
  readonly network?: "none" | CloudNetwork;
  /** How long E2B may take to answer a request; 20 seconds when it is left out. */
  readonly requestTimeoutMs?: number;
  /** How long making a sandbox may take, while E2B has no room included; 2 minutes when it is left out. */
  readonly createTimeoutMs?: number;
}

/** The options, checked and complete. */
export interface E2bSettings extends SandboxTimes, ServiceLimits {
  readonly template: string;
  readonly network?: "none" | CloudNetwork;
}

const OPTIONS: Checks<E2bOptions> = {
  template: text,
  env,
  lifetimeMs: cloudTime,
  leaseMs: cloudTime,
  network: cloudNetwork,
  requestTimeoutMs: milliseconds,
  createTimeoutMs: milliseconds,
};

/** Checks the options of `e2b()`; throws an `InvalidOptionsError` that names the wrong one. */
export const e2bSettings = (options: E2bOptions): E2bSettings => {
  const { template = "base", network, ...times } = checkedOptions(options, OPTIONS);
  return { template, network, ...consistentTimes(times), ...serviceLimits(times) };
};
