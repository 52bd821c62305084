import type { RunRecord } from "../records/record.ts";

/**
 * The executions of one runner, put together as they were started: those that `--repeat` made in one go are one
 * group, every other one is alone. Newest first, as are the executions that are passed in.
 */
export const goesOf = (executions: readonly RunRecord[]): readonly (readonly RunRecord[])[] => {
  const goes = new Map<string | RunRecord, RunRecord[]>();
  for (const record of executions) {
    const key = record.repeat?.go ?? record;
    const go = goes.get(key);
    if (go === undefined) goes.set(key, [record]);
    else go.push(record);
  }
  return [...goes.values()];
};
