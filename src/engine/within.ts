import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { readHostState } from "../git/hostState.ts";
import { catchUp } from "./catchUp.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import type { SessionPlan } from "./plan.ts";
import type { SandboxSession } from "./sandboxSession.ts";
import { type Session, withSession } from "./session.ts";
import { disarm, settle } from "./settle.ts";
import { takeNotice } from "./takeNotice.ts";

/** What has happened since the worktree was made is taken notice of when the session begins. */
export const atPresent = (plan: SessionPlan): Effect.Effect<SessionPlan, SandduneError> =>
  Effect.map(readHostState(plan.repository), (host) => ({ ...plan, host }));

/** A session in a worktree that goes on afterwards, for its user too: nothing of an agent's runs there by itself. */
export const inWorktree = <A, R>(
  plan: SessionPlan,
  checkout: CheckoutSession,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> =>
  Effect.flatMap(atPresent(plan), (current) =>
    withSession(
      current,
      (session) =>
        takeNotice(checkout).pipe(
          Effect.andThen(Effect.suspend(() => body(session))),
          Effect.ensuring(Effect.suspend(() => (checkout.isUsed ? settle(session, checkout) : Effect.void))),
        ),
      read,
    ),
  );

/** A session in a sandbox that goes on afterwards. */
export const inSandbox = <A, R>(
  plan: SessionPlan,
  sandbox: SandboxSession,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> =>
  Effect.flatMap(atPresent(plan), (current) =>
    withSession(
      current,
      (session) =>
        catchUp(sandbox).pipe(
          Effect.andThen(Effect.suspend(() => body(session))),
          Effect.ensuring(disarm(session, sandbox.checkout)),
        ),
      read,
    ),
  );
