import { dirname } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { disarmNestedRepositories } from "../../git/nestedRepositories/disarm.ts";
import type { NestedSearch } from "../../git/nestedRepositories/findNestedRepositories.ts";
import type { Session } from "../session/session.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import { updateIndex } from "./updateIndex.ts";

/** Where to look for nested repositories in a checkout. */
export const nestedSearch = (checkout: CheckoutSession): NestedSearch => ({
  checkoutPath: checkout.path,
  skipsConfigDirectory: checkout.path === dirname(checkout.repository.configDirectory),
  submodulePaths: checkout.newSubmodules,
  changedSince: checkout.usersUntil,
  ...(checkout.trustedCommit !== undefined && { trustedCommit: checkout.trustedCommit }),
  ...(checkout.worktree && { baseCommit: checkout.worktree.baseSha }),
});

/** Disables the repositories that an agent left on the host, because git would run their hooks and settings there. */
export const disarmRepositories = (session: Session, checkout: CheckoutSession): Effect.Effect<void> =>
  Effect.suspend(() => disarmNestedRepositories(nestedSearch(checkout), checkout.nestedRepositories)).pipe(
    Effect.catch((error: SandduneError) =>
      Effect.succeed([
        `Could not search for repositories that the agent made in ${checkout.path}: ${error.message}`,
      ]),
    ),
    Effect.map((sentences) => {
      session.progress.warn(...sentences);
    }),
  );

/**
 * Disarms the repositories of an agent that has ended, and then updates an index that had to wait for it, unless
 * another sandbox on the same checkout is open.
 */
export const cleanUpAfterAgent = (session: Session, checkout: CheckoutSession): Effect.Effect<void> =>
  disarmRepositories(session, checkout).pipe(
    Effect.andThen(
      Effect.suspend(() => updateIndex(checkout, { agentIsGone: checkout.openSandboxes === 0 })),
    ),
    Effect.catch((error: SandduneError) => Effect.succeed(error.message)),
    Effect.map((problem) => {
      if (problem !== undefined) session.progress.warn(problem);
    }),
  );
