import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { mergeToHead } from "../../git/merge/mergeToHead.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { labelled, timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";

const NOT_MERGED = "its commits could not be merged";

/** Marks all commits of the source branch as landed. */
export const markLanded = (checkout: CheckoutSession): void => {
  checkout.landed = checkout.tip;
  checkout.keepReasons.delete(NOT_MERGED);
};

const merge = (session: Session, checkout: CheckoutSession): Effect.Effect<void, SandduneError> => {
  const { branches, repository, worktree, tip } = checkout;
  if (branches.strategy !== "merge-to-head" || worktree === undefined) return Effect.void;
  const { targetBranch } = branches;
  const noteLanded = Effect.sync(() => {
    markLanded(checkout);
    session.progress.branch = targetBranch ?? "HEAD";
  });
  if (tip === checkout.landed) return noteLanded;
  return mergeToHead({
    repository,
    runId: session.plan.runId,
    sourceBranch: worktree.branch,
    sourceTip: tip,
    targetBranch,
    hostConfig: session.plan.host.config,
    known: checkout.lastMove,
    onWarning: (sentence) => session.progress.warn(sentence),
  }).pipe(
    Effect.andThen(noteLanded),
    Effect.tapError(() => Effect.sync(() => checkout.keepReasons.add(NOT_MERGED))),
  );
};

/** With merge-to-head, merges the source branch into the target branch, unless the run is unsolved. */
export const land = (session: Session, checkout: CheckoutSession): Effect.Effect<void, SandduneError> =>
  session.progress.solved === false
    ? Effect.void
    : timed(
        session,
        labelled("merge", checkout.branches.strategy === "merge-to-head", "Merging"),
        Effect.suspend(() => merge(session, checkout)),
      );
