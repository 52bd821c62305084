import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { copyToWorktree } from "../../git/worktrees/copyToWorktree.ts";
import { runWorktreeHooks } from "../hooks/setupHooks.ts";
import type { CheckoutPlan } from "../plan/plan.ts";
import { labelled, timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import { type CheckoutSession, openCheckout } from "./checkoutSession.ts";

/** Creates and prepares the checkout that agents work in. The scope releases it. */
export const prepareCheckout = Effect.fnUntraced(function* (
  session: Session,
  plan: CheckoutPlan,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const checkout = yield* timed(
    session,
    labelled("worktree", plan.source !== undefined, "Creating the worktree"),
    openCheckout(session, plan),
  );
  checkout.isTouched = plan.lasts || plan.copyToWorktree.length > 0 || plan.onWorktreeReady.length > 0;
  checkout.copied = { items: plan.copyToWorktree, timeoutMs: plan.copyToWorktreeMs };
  const kept = yield* timed(
    session,
    labelled("copy to worktree", plan.copyToWorktree.length > 0, `Copying ${plan.copyToWorktree.join(", ")}`),
    copyToWorktree(session.plan.repository, checkout, plan.copyToWorktree, plan.copyToWorktreeMs),
  );
  session.progress.warn(...kept);
  yield* runWorktreeHooks(session, checkout, plan);
  return checkout;
});
