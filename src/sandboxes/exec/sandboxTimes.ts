import { InvalidOptionsError } from "../../errors.ts";
import type { Check } from "../../options/checks/checks.ts";
import { inWords } from "./deadlineWarning.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a sandbox on another machine stays. */
export interface SandboxTimes {
  /** How long it may last at most, even while it is in use. */
  readonly lifetimeMs: number;
  /** How long it outlives the process that made it, should that die. */
  readonly leaseMs: number;
}

/** Checks for a whole number of milliseconds within the limits of a provider. */
export const timeWithin =
  ({ shortestMs, longestMs }: { readonly shortestMs: number; readonly longestMs: number }): Check =>
  (ms) => {
    if (Number.isInteger(ms) && Number(ms) >= shortestMs && Number(ms) <= longestMs) return undefined;
    const least = inWords(shortestMs);
    const range =
      longestMs === Number.POSITIVE_INFINITY ? `at least ${least}` : `from ${least} to ${inWords(longestMs)}`;
    return `must be ${range}, in milliseconds`;
  };

/** The times among the options, with defaults. */
export const sandboxTimes = ({
  lifetimeMs = DAY_MS,
  leaseMs = Math.min(10 * MINUTE_MS, lifetimeMs),
}: Partial<SandboxTimes>): SandboxTimes => ({ lifetimeMs, leaseMs });

/** The same, of options that were checked one by one. Throws an `InvalidOptionsError` if they contradict each other. */
export const consistentTimes = (options: Partial<SandboxTimes>): SandboxTimes => {
  const times = sandboxTimes(options);
  if (times.leaseMs > times.lifetimeMs) {
    throw new InvalidOptionsError("leaseMs", "must not be longer than lifetimeMs");
  }
  return times;
};
