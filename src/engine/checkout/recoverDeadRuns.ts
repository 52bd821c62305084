import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { readHostState } from "../../git/hostState.ts";
import { recoverLocation } from "../../runs/recover/recoverLocation.ts";
import type { Session } from "../session/session.ts";

/**
 * Takes over what dead runs have left on the session's branch, and in its checkout, before an agent works there: their
 * sandboxes are ended, their commits imported. Fails if something of theirs may still be at work. The session holds the
 * lock of the branch.
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
