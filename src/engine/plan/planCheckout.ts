import type { Hooks } from "../../options/hooks.ts";
import type { CheckoutOptions } from "../../options/runOptions.ts";
import type { CheckoutPlan, SourcePlan } from "./plan.ts";

const DEFAULT_COPY_TIMEOUT_MS = 60_000;

export const planCheckout = (
  options: CheckoutOptions & { readonly hooks?: Hooks },
  source: SourcePlan | undefined,
  { isShared = false, lasts = false } = {},
): CheckoutPlan => ({
  source,
  isShared,
  lasts,
  copyToWorktree: options.copyToWorktree ?? [],
  copyToWorktreeMs: options.timeouts?.copyToWorktreeMs ?? DEFAULT_COPY_TIMEOUT_MS,
  onWorktreeReady: options.hooks?.host?.onWorktreeReady ?? [],
});
