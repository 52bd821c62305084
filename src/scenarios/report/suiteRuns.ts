import type { ScenarioRecord } from "../records/record.ts";

/**
 * Groups the executions of one runner: the executions of one suite run with `--repeat` are one group, every other one
 * is a group of its own. Newest first, like the executions that are passed in.
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
