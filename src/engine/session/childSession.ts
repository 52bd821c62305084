import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type HostState, readHostState } from "../../git/hostState.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { cleanUpAfterAgent, disarmRepositories } from "../checkout/cleanUpAfterAgent.ts";
import { refreshCheckout } from "../checkout/hostChanges.ts";
import type { SessionPlan } from "../plan/plan.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { syncFromHost } from "../sandbox/syncFromHost.ts";
import { type Session, withSession } from "./session.ts";

/** Adds the host's current state to a plan, because the worktree may be old. */
export const withCurrentHost = (plan: SessionPlan): Effect.Effect<SessionPlan, SandduneError> =>
  Effect.map(readHostState(plan.repository), (host) => ({ ...plan, host }));

/** What to do in the worktree or sandbox before and after a session. */
interface BeforeAndAfter {
  readonly before: (host: HostState) => Effect.Effect<void, SandduneError>;
  readonly after: (session: Session) => Effect.Effect<void>;
}

/** A session in an existing worktree or sandbox. */
const within = <A, R>(
  plan: SessionPlan,
  { before, after }: BeforeAndAfter,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> =>
  Effect.flatMap(withCurrentHost(plan), (current) =>
    withSession(
      current,
      (session) =>
        before(current.host).pipe(
          Effect.andThen(Effect.suspend(() => body(session))),
          Effect.ensuring(Effect.suspend(() => after(session))),
        ),
      read,
    ),
  );

/** A session in an existing worktree. Its user may work there later: the repositories are disarmed. */
export const inWorktree = <A, R>(
  plan: SessionPlan,
  checkout: CheckoutSession,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> => {
  const after = (session: Session) => (checkout.isUsed ? cleanUpAfterAgent(session, checkout) : Effect.void);
  return within(plan, { before: (host) => refreshCheckout(checkout, host), after }, body, read);
};

/** A session in an existing sandbox. */
export const inSandbox = <A, R>(
  plan: SessionPlan,
  sandbox: SandboxSession,
  body: (session: Session) => Effect.Effect<void, SandduneError, R>,
  read: (session: Session) => A,
): Effect.Effect<A, SandduneError, R> => {
  const after = (session: Session) => disarmRepositories(session, sandbox.checkout);
  return within(plan, { before: (host) => syncFromHost(sandbox, host), after }, body, read);
};
