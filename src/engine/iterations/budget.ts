import { BudgetExceededError } from "../../errors.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import type { IterationUsage } from "../../options/results.ts";
import { addUsage, costOf, totalTokens } from "../../options/usage.ts";

export type BudgetLimits = Pick<AgentSettings, "maxTokens" | "maxCostUsd" | "prices">;

/** The budget of a run, for all its iterations. */
export class Budget {
  #used: IterationUsage | undefined;

  constructor(private readonly limits: BudgetLimits) {}

  /** Adds the usage. Returns an error if the budget is exceeded. */
  spend(usage: IterationUsage): BudgetExceededError | undefined {
    this.#used = addUsage(this.#used, usage);
    const { maxTokens, maxCostUsd, prices } = this.limits;
    const tokens = totalTokens(this.#used);
    if (maxTokens !== undefined && tokens > maxTokens) {
      return new BudgetExceededError("maxTokens", maxTokens, tokens);
    }
    const cost = prices === undefined ? 0 : costOf(this.#used, prices);
    if (maxCostUsd !== undefined && cost > maxCostUsd) {
      return new BudgetExceededError("maxCostUsd", maxCostUsd, cost);
    }
    return undefined;
  }
}
