import type { ScenarioResult } from "../records/record.ts";

const RESULTS = ["failing", "passing", "manual"] as const satisfies readonly ScenarioResult[];

/** What they come to together: whoever fails decides, and a pass says more than nothing. */
export const worstOf = (results: readonly ScenarioResult[]): ScenarioResult | undefined =>
  RESULTS.find((result) => results.includes(result));
