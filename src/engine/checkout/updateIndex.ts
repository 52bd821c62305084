import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { syncIndex } from "../../git/worktrees/syncIndex.ts";
import type { CheckoutSession } from "./checkoutSession.ts";

/**
 * Updates the checkout's index to the source branch. Waits while an agent that has committed a submodule can still
 * change it: git on the host enters the submodules in the index, and runs the programs in their settings.
 */
export const updateIndex = (
  checkout: CheckoutSession,
  options: { readonly agentIsGone: boolean } = { agentIsGone: false },
): Effect.Effect<string | undefined, SandduneError> => {
  // An empty worktree gets its index together with its files.
  if (checkout.overlay !== undefined) return Effect.succeed(undefined);
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
