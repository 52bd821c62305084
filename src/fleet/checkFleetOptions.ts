import { InvalidOptionsError } from "../errors.ts";
import { type Checks, callback, count, countOrNone, flag, members } from "../options/checks/checks.ts";
import { signal } from "../options/checks/session.ts";
import { isOptionsObject } from "../options/checks/valueKind.ts";
import type { FleetOptions } from "./contract.ts";

const FLEET: Checks<FleetOptions & { readonly defaults: unknown }> = {
  concurrency: count,
  retries: countOrNone,
  retryIf: callback,
  signal,
  onProgress: callback,
  keepOutcomes: flag,
  defaults: (value) => (isOptionsObject(value) ? undefined : "must be an object"),
};

const isSource = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** For callers without types: refuses what the types would refuse. */
export const checkFleetOptions = (tasks: unknown, options: FleetOptions<never>): void => {
  members("options", options, FLEET);
  if (isSource(tasks)) return;
  throw new InvalidOptionsError("tasks", "must be a list, or another iterable, of options for run()");
};
