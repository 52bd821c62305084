import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import type { InteractiveResult } from "../../options/results.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { prepareCheckout } from "../checkout/prepareCheckout.ts";
import { runSandboxHooks } from "../hooks/setupHooks.ts";
import type { CheckoutPlan, InteractionPlan, SandboxPlan, SessionPlan } from "../plan/plan.ts";
import { prepareSandbox } from "../sandbox/prepareSandbox.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { inSandbox, inWorktree } from "../session/childSession.ts";
import { type Session, withSession } from "../session/session.ts";
import { openHostLocation } from "./hostLocation.ts";
import { type AgentLocation, interact } from "./interact.ts";

export interface InteractivePlan {
  readonly session: SessionPlan;
  readonly interaction: InteractionPlan;
}

const resultOf = ({ progress }: Session): InteractiveResult => {
  const { iterations: _, ...reached } = progress.reached();
  return { ...reached, exitCode: progress.exitCode ?? 0 };
};

/** Opens a sandbox on the checkout or, with the no-sandbox provider, the checkout itself. */
const openAgentLocation = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  plan: SandboxPlan,
): Effect.fn.Return<AgentLocation, SandduneError, Scope.Scope> {
  const { provider } = plan;
  if (provider.type !== "none") {
    return yield* prepareSandbox(session, checkout, { ...plan, provider }, { endsWithCall: true });
  }
  if (checkout.openSandboxes > 0) {
    session.progress.warn(
      "A sandbox is open on this worktree: processes that an agent left running in it can change the files that you work on.",
    );
  }
  const location = yield* openHostLocation(checkout, provider);
  yield* runSandboxHooks(session, checkout, plan, location.handle);
  return location;
});

/** An interactive session with its own checkout and sandbox. */
export const interactiveSession = (
  plan: InteractivePlan & { readonly checkout: CheckoutPlan; readonly sandbox: SandboxPlan },
): Effect.Effect<InteractiveResult, SandduneError> =>
  withSession(
    plan.session,
    Effect.fnUntraced(function* (session) {
      const checkout = yield* prepareCheckout(session, plan.checkout);
      yield* interact(session, yield* openAgentLocation(session, checkout, plan.sandbox), plan.interaction);
    }, Effect.scoped),
    resultOf,
  );

/** An interactive session in an existing worktree. */
export const interactiveInWorktree = (
  plan: InteractivePlan & { readonly sandbox: SandboxPlan },
  checkout: CheckoutSession,
): Effect.Effect<InteractiveResult, SandduneError> =>
  inWorktree(
    plan.session,
    checkout,
    Effect.fnUntraced(function* (session) {
      yield* interact(session, yield* openAgentLocation(session, checkout, plan.sandbox), plan.interaction);
    }, Effect.scoped),
    resultOf,
  );

/** An interactive session in an existing sandbox. */
export const interactiveInSandbox = (
  plan: InteractivePlan,
  sandbox: SandboxSession,
): Effect.Effect<InteractiveResult, SandduneError> =>
  inSandbox(plan.session, sandbox, (session) => interact(session, sandbox, plan.interaction), resultOf);
