import type { IterationUsage } from "../../options/results.ts";
import { addUsage, totalTokens } from "../../options/usage.ts";
import type { ScenarioRecord } from "../records/record.ts";

/** The tokens that the agents of an execution have used; `undefined` if no agent reports usage. */
export const usageOf = ({ steps }: ScenarioRecord): IterationUsage | undefined =>
  steps.reduce<IterationUsage | undefined>(
    (sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)),
    undefined,
  );

const grouped = (tokens: number): string =>
  Math.round(tokens)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");

/** `12,345 tokens in (10,000 cached), 678 out`. */
export const showUsage = (usage: IterationUsage): string =>
  `${grouped(totalTokens(usage) - usage.outputTokens)} tokens in (${grouped(usage.cacheReadInputTokens)} cached), ${grouped(usage.outputTokens)} out`;

/** The tokens of an execution as one number; empty if none were reported. */
export const briefUsage = (record: ScenarioRecord): string => {
  const usage = usageOf(record);
  return usage === undefined ? "" : grouped(totalTokens(usage));
};
