import { InvalidOptionsError } from "../errors.ts";
import { checkedTimes, checkTime, DAY_MS, type SandboxTimes, type TimeLimits } from "./sandboxTimes.ts";

/** What a sandbox of a service may reach, when it is neither everything nor nothing. */
export interface CloudNetwork {
  /** Domain names, e.g. `"packages.example.com"` or `"*.example.com"`. */
  readonly domains?: readonly string[];
  /** Networks, e.g. `"10.1.0.0/16"`. */
  readonly cidrs?: readonly string[];
}

/** What services have in common. */
const LIMITS: TimeLimits = { shortestMs: 1000, longestMs: DAY_MS };

export const refuseOption = (option: string, problem: string): never => {
  throw new InvalidOptionsError(option, problem);
};

export const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** A mistyped option would silently do nothing. */
export const refuseUnknownOptions = (options: unknown, known: readonly string[]): void => {
  if (typeof options !== "object" || options === null) refuseOption("options", "must be an object");
  const unknown = Object.keys(options as object).find((name) => !known.includes(name));
  if (unknown !== undefined) refuseOption(unknown, `is unknown. Known are: ${known.join(", ")}`);
};

export const checkLifetime = (lifetimeMs: unknown): void => checkTime("lifetimeMs", lifetimeMs, LIMITS);

/** Checks the times among the options. */
export const cloudTimes = (options: Partial<SandboxTimes>): SandboxTimes => checkedTimes(options, LIMITS);

const isNetwork = (network: unknown): boolean => {
  if (typeof network !== "object" || network === null) return false;
  const lists = Object.entries(network).filter(([, list]) => list !== undefined);
  return (
    lists.length > 0 &&
    lists.every(
      ([name, list]) => ["domains", "cidrs"].includes(name) && Array.isArray(list) && list.every(isText),
    )
  );
};

export const checkNetwork = (network: unknown): void => {
  if (network === undefined || network === "none" || isNetwork(network)) return;
  refuseOption("network", 'must be "none", or { domains?: […], cidrs?: […] } with at least one of them');
};
