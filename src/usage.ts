import type { IterationUsage } from "./results.ts";

/** The figures are the agent's: what cannot be a number of tokens counts as none, and a sum stays finite. */
const plus = (sum: number | undefined, more: number): number =>
  Math.min((sum ?? 0) + (Number.isFinite(more) && more > 0 ? more : 0), Number.MAX_VALUE);

export const addUsage = (sum: IterationUsage | undefined, usage: IterationUsage): IterationUsage => ({
  inputTokens: plus(sum?.inputTokens, usage.inputTokens),
  cacheCreationInputTokens: plus(sum?.cacheCreationInputTokens, usage.cacheCreationInputTokens),
  cacheReadInputTokens: plus(sum?.cacheReadInputTokens, usage.cacheReadInputTokens),
  outputTokens: plus(sum?.outputTokens, usage.outputTokens),
});

/** All tokens, whatever they cost. */
export const totalTokens = (usage: IterationUsage): number =>
  usage.inputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens + usage.outputTokens;

/** What was used beyond what has been told already; never less than nothing. */
export const usageBeyond = (all: IterationUsage, told: IterationUsage): IterationUsage => ({
  inputTokens: Math.max(0, all.inputTokens - told.inputTokens),
  cacheCreationInputTokens: Math.max(0, all.cacheCreationInputTokens - told.cacheCreationInputTokens),
  cacheReadInputTokens: Math.max(0, all.cacheReadInputTokens - told.cacheReadInputTokens),
  outputTokens: Math.max(0, all.outputTokens - told.outputTokens),
});

export const NO_USAGE: IterationUsage = {
  inputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 0,
};
