import type { ScenarioCounts } from "../contract.ts";
import type { ScenarioRecord } from "./record.ts";

/** How many records have which result. */
export const countResults = (records: readonly Pick<ScenarioRecord, "result">[]): ScenarioCounts => {
  const count = (wanted: keyof ScenarioCounts) => records.filter(({ result }) => result === wanted).length;
  return { passing: count("passing"), failing: count("failing"), manual: count("manual") };
};
