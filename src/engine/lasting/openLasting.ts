import * as Effect from "effect/Effect";
import { Turns } from "../../boundary/turns.ts";
import type { SandduneError } from "../../errors.ts";
import { listRunCommits } from "../../git/runChanges.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { cleanUpAfterAgent } from "../checkout/cleanUpAfterAgent.ts";
import { refreshCheckout } from "../checkout/hostChanges.ts";
import { prepareCheckout } from "../checkout/prepareCheckout.ts";
import { type ParentSession, parentSessionOf } from "../plan/parentSession.ts";
import type { CheckoutPlan, SandboxPlan, SessionPlan } from "../plan/plan.ts";
import { prepareSandbox } from "../sandbox/prepareSandbox.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { withCurrentHost } from "../session/childSession.ts";
import { type Kept, keepSession } from "../session/session.ts";
import { Lifecycle } from "./lifecycle.ts";

/** A long-lived worktree. */
export interface LastingWorktree {
  readonly lifecycle: Lifecycle;
  readonly turns: Turns;
  readonly checkout: CheckoutSession;
  readonly parentSession: ParentSession;
  readonly logFilePath: string;
}

/** A long-lived sandbox. */
export interface LastingSandbox {
  readonly lifecycle: Lifecycle;
  readonly sandbox: SandboxSession;
  readonly sandboxPlan: SandboxPlan<SandboxProvider>;
  readonly parentSession: ParentSession;
  readonly logFilePath: string;
}

export interface LastingSandboxPlan {
  readonly session: SessionPlan;
  readonly sandbox: SandboxPlan<SandboxProvider>;
  /** The env vars that were declared for the sandbox. */
  readonly env: EnvVars;
}

/** The commits of `made` that are on the branch, oldest first. An agent may have rewritten some of them. */
const commitsOn = (checkout: CheckoutSession, made: ReadonlySet<string>): Effect.Effect<readonly string[]> =>
  Effect.suspend(() =>
    made.size === 0
      ? Effect.succeed([])
      : listRunCommits(checkout.repository.topLevel, checkout.tip, [
          checkout.worktree?.baseSha ?? checkout.landed,
        ]),
  ).pipe(
    Effect.map((commits) => commits.filter((sha) => made.has(sha))),
    Effect.catch(() => Effect.succeed([...made])),
  );

/** The long-lived sandbox of a kept session. */
export const lastingOf = (
  { session, sandbox: sandboxPlan, env }: LastingSandboxPlan,
  kept: Kept<SandboxSession>,
  turns: Turns,
  secrets?: Map<string, string>,
): LastingSandbox => ({
  lifecycle: new Lifecycle("sandbox", kept, turns, commitsOn(kept.value.checkout, kept.value.commits)),
  sandbox: kept.value,
  sandboxPlan,
  parentSession: parentSessionOf(
    session,
    { sandboxEnv: sandboxPlan.provider.env ?? {}, env },
    secrets ?? new Map(session.env.secrets),
  ),
  logFilePath: kept.session.progress.logFilePath,
});

/** Creates a long-lived worktree. */
export const openLastingWorktree = (plan: {
  readonly session: SessionPlan;
  readonly checkout: CheckoutPlan;
}): Effect.Effect<LastingWorktree, SandduneError> =>
  keepSession(plan.session, (session) => prepareCheckout(session, plan.checkout)).pipe(
    Effect.map((kept) => {
      const turns = new Turns();
      return {
        lifecycle: new Lifecycle("worktree", kept, turns, commitsOn(kept.value, kept.value.commits)),
        turns,
        checkout: kept.value,
        parentSession: parentSessionOf(plan.session),
        logFilePath: kept.session.progress.logFilePath,
      };
    }),
  );

/** Creates a long-lived sandbox with its own worktree. */
export const openLastingSandbox = (
  plan: LastingSandboxPlan & { readonly checkout: CheckoutPlan },
): Effect.Effect<LastingSandbox, SandduneError> =>
  keepSession(plan.session, (session) =>
    prepareCheckout(session, plan.checkout).pipe(
      Effect.flatMap((checkout) => prepareSandbox(session, checkout, plan.sandbox, { endsWithCall: false })),
    ),
  ).pipe(Effect.map((kept) => lastingOf(plan, kept, new Turns())));

/** Creates a long-lived sandbox on an existing worktree, which outlives it. */
export const openSandboxInWorktree = (
  plan: LastingSandboxPlan,
  worktree: LastingWorktree,
): Effect.Effect<LastingSandbox, SandduneError> =>
  Effect.flatMap(withCurrentHost(plan.session), (current) =>
    keepSession(
      current,
      Effect.fnUntraced(function* (session) {
        const { checkout } = worktree;
        yield* refreshCheckout(checkout);
        yield* Effect.addFinalizer(() => cleanUpAfterAgent(session, checkout));
        return yield* prepareSandbox(session, checkout, plan.sandbox, { endsWithCall: false });
      }),
    ),
  ).pipe(
    Effect.map((kept) => {
      const lasting = lastingOf(plan, kept, worktree.turns, worktree.parentSession.secrets);
      worktree.lifecycle.adopt(lasting.lifecycle);
      return lasting;
    }),
  );
