import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import type { Checkout } from "../git/sandboxGitDirectory.ts";
import { syncIndex } from "../git/syncIndex.ts";
import type { RunContext } from "./runContext.ts";

/**
 * Lets the checkout's index follow the source branch. Not yet, if the agent has committed a submodule and can still
 * change what is in it: git on the host enters the submodules that the index knows, and runs what their settings name.
 */
export const followBranch = (
  context: RunContext,
  checkout: Checkout,
  options: { readonly agentIsGone: boolean } = { agentIsGone: false },
): Effect.Effect<string | undefined, SandduneError> => {
  if (context.newSubmodules.length > 0 && !options.agentIsGone) return Effect.succeed(undefined);
  const from = context.indexAt;
  context.indexAt = context.tip;
  return syncIndex({
    checkoutPath: checkout.path,
    gitDirectory: checkout.gitDirectory,
    branch: checkout.branch,
    from,
    to: context.tip,
  });
};
