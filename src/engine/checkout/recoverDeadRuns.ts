import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { readHostState } from "../../git/hostState.ts";
import { recoverLocation } from "../../runs/recover/recoverLocation.ts";
import type { Session } from "../session/session.ts";

/**
 * Recovers the work of dead runs on the session's branch and in its checkout, before an agent works there: closes
 * their sandboxes and imports their commits. Fails if one of their processes may still be running. The session holds
 * the lock of the branch.
 */
export const recoverDeadRuns = Effect.fnUntraced(function* (
  session: Session,
): Effect.fn.Return<void, SandduneError> {
  const { repository, branches } = session.plan;
  const { told, hasChanged } = yield* recoverLocation({
    repository,
    branch: branches.sourceBranch,
    checkoutPath: branches.strategy === "head" ? repository.topLevel : undefined,
  });
  session.progress.warn(...told);
  if (hasChanged) session.plan = { ...session.plan, host: yield* readHostState(repository) };
});
