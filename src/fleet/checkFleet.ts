import { type Check, callback, count, flag, members } from "../engine/optionChecks.ts";
import { signal } from "../engine/valueChecks.ts";
import { InvalidOptionsError } from "../errors.ts";
import type { FleetOptions } from "./contract.ts";

const countOrNone: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number, 0 or more";

const FLEET: Record<keyof FleetOptions, Check> = {
  concurrency: count,
  retries: countOrNone,
  signal,
  onProgress: callback,
  keepOutcomes: flag,
};

const isSource = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** Rejects what the types would have rejected, for callers that have none. */
export const checkFleet = (tasks: unknown, options: FleetOptions<never>): void => {
  members("options", options, FLEET);
  if (isSource(tasks)) return;
  throw new InvalidOptionsError(
    "tasks",
    "must be a list of options of run(), or something else that can be iterated over",
  );
};
