import type { ScenarioRecord } from "../records/record.ts";

/**
 * The executions of one runner, put together as they were started: those that `--repeat` made in one suite run are one
 * group, every other one is alone. Newest first, as are the executions that are passed in.
 */
export const suiteRunsOf = (
  executions: readonly ScenarioRecord[],
): readonly (readonly ScenarioRecord[])[] => {
  const suiteRuns = new Map<string | ScenarioRecord, ScenarioRecord[]>();
  for (const record of executions) {
    const key = record.repeat?.go ?? record;
    const suiteRun = suiteRuns.get(key);
    if (suiteRun === undefined) suiteRuns.set(key, [record]);
    else suiteRun.push(record);
  }
  return [...suiteRuns.values()];
};
