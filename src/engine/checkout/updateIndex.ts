import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { syncIndex } from "../../git/worktrees/syncIndex.ts";
import type { CheckoutSession } from "./checkoutSession.ts";

/**
 * Lets the checkout's index follow the source branch. Not yet, if the agent has committed a submodule and can still
 * change what is in it: git on the host enters the submodules that the index knows, and runs what their settings name.
 */
export const updateIndex = (
  checkout: CheckoutSession,
  options: { readonly agentIsGone: boolean } = { agentIsGone: false },
): Effect.Effect<string | undefined, SandduneError> => {
  if (checkout.newSubmodules.length > 0 && !options.agentIsGone) return Effect.succeed(undefined);
  const from = checkout.indexAt;
  checkout.indexAt = checkout.tip;
  return syncIndex({
    checkoutPath: checkout.path,
    gitDirectory: checkout.gitDirectory,
    branch: checkout.branch,
    from,
    to: checkout.tip,
  });
};
