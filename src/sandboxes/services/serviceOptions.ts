import { type Check, type Checks, milliseconds, names, nested } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";
import { consistentTimes, DAY_MS, type SandboxTimes, timeWithin } from "../exec/sandboxTimes.ts";
import { type ServiceLimits, serviceLimits } from "./serviceLimits.ts";

/** What a sandbox of a service may reach, when it is neither everything nor nothing. */
export interface CloudNetwork {
  /** Domain names, e.g. `"packages.example.com"` or `"*.example.com"`. */
  readonly domains?: readonly string[];
  /** Networks, e.g. `"10.1.0.0/16"`. */
  readonly cidrs?: readonly string[];
}

/** Options that all services have in common. */
export interface ServiceOptions {
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /**
   * How long a sandbox may last at most; 24 hours when it is left out. The service may allow less, depending on the plan.
   * Either way, commands are ended while their work can still be imported.
   */
  readonly lifetimeMs?: number;
  /** `"none"`, or what may be reached; everything when it is left out. */
  readonly network?: "none" | CloudNetwork;
  /** How long the service may take to answer a request; 20 seconds when it is left out. */
  readonly requestTimeoutMs?: number;
  /** How long making a sandbox may take, waiting for free capacity included; 2 minutes when it is left out. */
  readonly createTimeoutMs?: number;
}

/** Options of services that extend the life of a sandbox on request. */
export interface LeasedServiceOptions extends ServiceOptions {
  /** How long a sandbox outlives the process that made it, should that die; 10 minutes when it is left out. */
  readonly leaseMs?: number;
}

const cloudTime: Check = timeWithin({ shortestMs: 1000, longestMs: DAY_MS });

const NETWORK = 'must be "none", or { domains?: […], cidrs?: […] } with at least one of them';

const reachable = nested("network", { domains: names, cidrs: names });

/** An object without a list would leave everything open. */
const cloudNetwork: Check = (value) => {
  if (value === "none") return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return NETWORK;
  reachable(value);
  const { domains, cidrs } = value as CloudNetwork;
  return domains === undefined && cidrs === undefined ? NETWORK : undefined;
};

export const SERVICE_CHECKS: Checks<ServiceOptions> = {
  env,
  lifetimeMs: cloudTime,
  network: cloudNetwork,
  requestTimeoutMs: milliseconds,
  createTimeoutMs: milliseconds,
};

export const LEASED_SERVICE_CHECKS: Checks<LeasedServiceOptions> = { ...SERVICE_CHECKS, leaseMs: cloudTime };

/** The common options, checked and complete. */
export interface LeasedServiceSettings extends SandboxTimes, ServiceLimits {
  readonly network?: "none" | CloudNetwork;
}

/** Completes options that were checked one by one. Throws an `InvalidOptionsError` if they contradict each other. */
export const leasedServiceSettings = (options: LeasedServiceOptions): LeasedServiceSettings => ({
  network: options.network,
  ...consistentTimes(options),
  ...serviceLimits(options),
});
