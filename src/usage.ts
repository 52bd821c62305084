import type { IterationUsage } from "./results.ts";

/** The figures are the agent's: what is no number counts as none. */
const plus = (sum: number | undefined, more: number): number =>
  (sum ?? 0) + (Number.isFinite(more) ? more : 0);

export const addUsage = (sum: IterationUsage | undefined, usage: IterationUsage): IterationUsage => ({
  inputTokens: plus(sum?.inputTokens, usage.inputTokens),
  cacheCreationInputTokens: plus(sum?.cacheCreationInputTokens, usage.cacheCreationInputTokens),
  cacheReadInputTokens: plus(sum?.cacheReadInputTokens, usage.cacheReadInputTokens),
  outputTokens: plus(sum?.outputTokens, usage.outputTokens),
});
