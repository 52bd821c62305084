import { isAmount, objectWith, type Predicate } from "../tools/values/predicates.ts";
import type { IterationUsage } from "./results.ts";

/** Whether a value that was read from a file is a usage. */
export const isUsage: Predicate = objectWith({
  inputTokens: isAmount,
  cacheCreationInputTokens: isAmount,
  cacheReadInputTokens: isAmount,
  outputTokens: isAmount,
});

/** The agent reports these numbers, so they are not trusted: an invalid one counts as 0, and the sum stays finite. */
const plus = (sum: number | undefined, more: number): number =>
  Math.min((sum ?? 0) + (Number.isFinite(more) && more > 0 ? more : 0), Number.MAX_VALUE);

export const addUsage = (sum: IterationUsage | undefined, usage: IterationUsage): IterationUsage => ({
  inputTokens: plus(sum?.inputTokens, usage.inputTokens),
  cacheCreationInputTokens: plus(sum?.cacheCreationInputTokens, usage.cacheCreationInputTokens),
  cacheReadInputTokens: plus(sum?.cacheReadInputTokens, usage.cacheReadInputTokens),
  outputTokens: plus(sum?.outputTokens, usage.outputTokens),
});

export const sumUsage = (usages: readonly (IterationUsage | undefined)[]): IterationUsage | undefined =>
  usages.reduce((sum, usage) => (usage === undefined ? sum : addUsage(sum, usage)), undefined);

export const totalTokens = (usage: IterationUsage): number =>
  usage.inputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens + usage.outputTokens;

/** The part of `all` that has not been reported yet; never negative. */
export const usageBeyond = (all: IterationUsage, reported: IterationUsage): IterationUsage => ({
  inputTokens: Math.max(0, all.inputTokens - reported.inputTokens),
  cacheCreationInputTokens: Math.max(0, all.cacheCreationInputTokens - reported.cacheCreationInputTokens),
  cacheReadInputTokens: Math.max(0, all.cacheReadInputTokens - reported.cacheReadInputTokens),
  outputTokens: Math.max(0, all.outputTokens - reported.outputTokens),
});

export const NO_USAGE: IterationUsage = {
  inputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 0,
};

/** The prices of a million tokens, in US dollars. */
export interface TokenPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Default: `inputPerMillion`. */
  readonly cacheCreationPerMillion?: number;
  /** Default: `inputPerMillion`. */
  readonly cacheReadPerMillion?: number;
}

/** The cost of the tokens in US dollars. */
export const costOf = (usage: IterationUsage, prices: TokenPrices): number =>
  (usage.inputTokens * prices.inputPerMillion +
    usage.outputTokens * prices.outputPerMillion +
    usage.cacheCreationInputTokens * (prices.cacheCreationPerMillion ?? prices.inputPerMillion) +
    usage.cacheReadInputTokens * (prices.cacheReadPerMillion ?? prices.inputPerMillion)) /
  1_000_000;
