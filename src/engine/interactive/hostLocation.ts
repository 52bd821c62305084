import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { environmentWithoutRepository } from "../../git/environmentWithoutRepository.ts";
import { readHead } from "../../git/hostState.ts";
import type { NoSandboxProvider, SandboxHandle } from "../../sandboxes/contract.ts";
import { openHandle } from "../../sandboxes/handle/openHandle.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { refreshCheckout, switchedTo } from "../checkout/hostChanges.ts";
import { checkHostDirectory } from "../checkout/hostDirectory.ts";
import { recordCommits } from "../landing/recordCommits.ts";
import type { Session } from "../session/session.ts";

/** The checkout itself, where the agent works without a sandbox. */
export interface HostLocation {
  readonly type: "host";
  readonly checkout: CheckoutSession;
  readonly handle: SandboxHandle;
}

export const openHostLocation = (
  checkout: CheckoutSession,
  provider: NoSandboxProvider,
): Effect.Effect<HostLocation, SandduneError> => {
  const environment = Object.fromEntries(
    Object.entries(environmentWithoutRepository()).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  return interruptible(async () => {
    checkHostDirectory(checkout);
    return openHandle(provider, () => provider.create({ worktreePath: checkout.path, environment }));
  }).pipe(Effect.map((handle) => ({ type: "host", checkout, handle }) as const));
};

/** Users may switch, rename, delete and create branches in their own checkout. */
const noteOwnCheckout = (session: Session, checkout: CheckoutSession, base: string) =>
  readHead(checkout.path).pipe(
    Effect.flatMap((head) => {
      session.progress.branch = head.branch ?? "HEAD";
      checkout.tip = head.sha;
      return recordCommits(session, checkout, base);
    }),
    Effect.catch((error) => Effect.sync(() => session.progress.warn(error.message))),
  );

/** In sanddune's worktree, commits belong on its branch. */
const noteWorktree = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  base: string,
): Effect.fn.Return<void, SandduneError> {
  yield* refreshCheckout(checkout).pipe(
    Effect.ensuring(Effect.ignore(Effect.suspend(() => recordCommits(session, checkout, base)))),
  );
  const elsewhere = yield* switchedTo(checkout);
  if (elsewhere === undefined) return;
  session.progress.warn(
    `The worktree ${checkout.path} was switched to ${elsewhere}. Commits that were made there are not on ${checkout.branch}.`,
  );
});

/** Records the commits that were made on the host, where nothing needs to be imported. */
export const recordHostWork = (
  session: Session,
  { checkout }: HostLocation,
  base: string,
): Effect.Effect<void, SandduneError> =>
  checkout.worktree === undefined
    ? noteOwnCheckout(session, checkout, base)
    : noteWorktree(session, checkout, base);
