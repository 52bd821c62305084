import { type Check, names, nested } from "../../options/checks/checks.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { DAY_MS, type TimeLimits, timeWithin } from "../exec/sandboxTimes.ts";

/** What a sandbox of a service may reach, when it is neither everything nor nothing. */
export interface CloudNetwork {
  /** Domain names, e.g. `"packages.example.com"` or `"*.example.com"`. */
  readonly domains?: readonly string[];
  /** Networks, e.g. `"10.1.0.0/16"`. */
  readonly cidrs?: readonly string[];
}

/** What services have in common. */
const LIMITS: TimeLimits = { shortestMs: 1000, longestMs: DAY_MS };

export const cloudTime: Check = timeWithin(LIMITS);

const NETWORK = 'must be "none", or { domains?: […], cidrs?: […] } with at least one of them';

const reachable = nested("network", { domains: names, cidrs: names });

/** An object without a list would leave everything open. */
export const cloudNetwork: Check = (value) => {
  if (value === "none") return undefined;
  if (!isObject(value)) return NETWORK;
  reachable(value);
  const { domains, cidrs } = value as CloudNetwork;
  return domains === undefined && cidrs === undefined ? NETWORK : undefined;
};
