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

/** What a million tokens cost, in US dollars. */
export interface TokenPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** That of input when it is left out. */
  readonly cacheCreationPerMillion?: number;
  /** That of input when it is left out. */
  readonly cacheReadPerMillion?: number;
}

/** What tokens cost, in US dollars. */
export const costOf = (usage: IterationUsage, prices: TokenPrices): number =>
  (usage.inputTokens * prices.inputPerMillion +
    usage.outputTokens * prices.outputPerMillion +
    usage.cacheCreationInputTokens * (prices.cacheCreationPerMillion ?? prices.inputPerMillion) +
    usage.cacheReadInputTokens * (prices.cacheReadPerMillion ?? prices.inputPerMillion)) /
  1_000_000;
