import { InvalidOptionsError } from "../errors.ts";
import { inWords } from "./endInTime.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long a sandbox on another machine stays. */
export interface SandboxTimes {
  /** How long it may last at most, however much it is in use. */
  readonly lifetimeMs: number;
  /** How long it outlives the process that made it, should that die. */
  readonly leaseMs: number;
}

/** What an engine can do. */
export interface TimeLimits {
  readonly shortestMs: number;
  readonly longestMs: number;
}

export const checkTime = (option: string, ms: unknown, { shortestMs, longestMs }: TimeLimits): void => {
  if (Number.isInteger(ms) && Number(ms) >= shortestMs && Number(ms) <= longestMs) return;
  const least = inWords(shortestMs);
  const range =
    longestMs === Number.POSITIVE_INFINITY ? `at least ${least}` : `from ${least} to ${inWords(longestMs)}`;
  throw new InvalidOptionsError(option, `must be ${range}`);
};

/** The times among the options, with what is left out. */
export const sandboxTimes = ({
  lifetimeMs = DAY_MS,
  leaseMs = Math.min(10 * MINUTE_MS, lifetimeMs),
}: Partial<SandboxTimes>): SandboxTimes => ({ lifetimeMs, leaseMs });

/** The same, if an engine can do that; throws an `InvalidOptionsError` that names the wrong one. */
export const checkedTimes = (options: Partial<SandboxTimes>, limits: TimeLimits): SandboxTimes => {
  const times = sandboxTimes(options);
  checkTime("lifetimeMs", times.lifetimeMs, limits);
  checkTime("leaseMs", times.leaseMs, limits);
  if (times.leaseMs > times.lifetimeMs) {
    throw new InvalidOptionsError("leaseMs", "must not be longer than lifetimeMs");
  }
  return times;
};
