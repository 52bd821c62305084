import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { SandboxRunResult } from "../../options/results.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { openTrajectory } from "../../trajectory/record/recorder.ts";
import type { AgentInvoker } from "../agent/agentInvoker.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { prepareCheckout } from "../checkout/prepareCheckout.ts";
import { iterate } from "../iterations/iterate.ts";
import { land } from "../landing/land.ts";
import type { AgentPlan, CheckoutPlan, SandboxPlan, SessionPlan } from "../plan/plan.ts";
import { prepareSandbox } from "../sandbox/prepareSandbox.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { inSandbox, inWorktree } from "./childSession.ts";
import { timed } from "./phases.ts";
import { type Session, withSession } from "./session.ts";

export interface RunPlan {
  readonly session: SessionPlan;
  readonly agent: AgentPlan;
}

/** Lets the agent work in a sandbox, and lands its commits. */
const work = Effect.fnUntraced(function* (
  session: Session,
  sandbox: SandboxSession,
  plan: AgentPlan,
): Effect.fn.Return<void, SandduneError, AgentInvoker> {
  const { checkout } = sandbox;
  const trajectory = openTrajectory(session, sandbox, plan);
  const iterating = iterate({ session, sandbox, base: checkout.tip, trajectory }, plan);
  yield* timed(
    session,
    { phase: "agent" },
    trajectory === undefined
      ? iterating
      : Effect.andThen(trajectory.begin, iterating).pipe(Effect.onExit((exit) => trajectory.end(exit))),
  );
  yield* land(session, checkout);
});

const resultOf = ({ progress }: Session): SandboxRunResult => progress.toResult();

/** A run with its own checkout and sandbox. All resources are released in reverse order. */
export const runSession = (
  plan: RunPlan & { readonly checkout: CheckoutPlan; readonly sandbox: SandboxPlan<SandboxProvider> },
): Effect.Effect<SandboxRunResult, SandduneError, AgentInvoker> =>
  withSession(
    plan.session,
    Effect.fnUntraced(function* (session) {
      const checkout = yield* prepareCheckout(session, plan.checkout);
      const sandbox = yield* prepareSandbox(session, checkout, plan.sandbox, { endsWithCall: true });
      yield* work(session, sandbox, plan.agent);
    }, Effect.scoped),
    resultOf,
  );

/** A run in an existing worktree, with its own sandbox. */
export const runInWorktree = (
  plan: RunPlan & { readonly sandbox: SandboxPlan<SandboxProvider> },
  checkout: CheckoutSession,
): Effect.Effect<SandboxRunResult, SandduneError, AgentInvoker> =>
  inWorktree(
    plan.session,
    checkout,
    Effect.fnUntraced(function* (session) {
      const sandbox = yield* prepareSandbox(session, checkout, plan.sandbox, { endsWithCall: true });
      yield* work(session, sandbox, plan.agent);
    }, Effect.scoped),
    resultOf,
  );

/** A run in an existing sandbox. */
export const runInSandbox = (
  plan: RunPlan,
  sandbox: SandboxSession,
): Effect.Effect<SandboxRunResult, SandduneError, AgentInvoker> =>
  inSandbox(plan.session, sandbox, (session) => work(session, sandbox, plan.agent), resultOf);
