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
}

/** The options, checked and complete. */
export interface E2bSettings extends SandboxTimes {
  readonly template: string;
  readonly network?: "none" | CloudNetwork;
}

const OPTIONS: readonly (keyof E2bOptions)[] = ["template", "env", "lifetimeMs", "leaseMs", "network"];

/** Checks the options of `e2b()`; throws an `InvalidOptionsError` that names the wrong one. */
export const e2bSettings = (options: E2bOptions): E2bSettings => {
  refuseUnknownOptions(options, OPTIONS);
  const { template = "base", network } = options;
  if (!isText(template)) refuseOption("template", 'must be the name or id of a template, e.g. "base"');
  checkNetwork(network);
  return { template, network, ...cloudTimes(options) };
};
