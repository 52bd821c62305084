import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { inspectChanges, readRunHistory } from "../../git/runChanges.ts";
import type { BranchMove } from "../../git/transfer/import/importCommits.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { noteUserChanges } from "../checkout/userChanges.ts";
import type { Session } from "../session/session.ts";

/** Records which commits on the source branch the session made, and which of their files deserve attention. */
export const recordCommits = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  base: string,
  /** Facts about the commits, if an import has read them. */
  move?: BranchMove,
): Effect.fn.Return<void, SandduneError> {
  const { plan, progress } = session;
  const cwd = checkout.repository.topLevel;
  const knownCommits = [...new Set([base, ...plan.host.refs.map(({ sha }) => sha)])];
  const { commits } = move ?? (yield* readRunHistory(cwd, checkout.tip, knownCommits));
  const changes = yield* inspectChanges(cwd, base, checkout.tip, checkout.gradingPaths, move?.changes);
  progress.noteCommits(commits);
  for (const { sha } of commits) checkout.commits.add(sha);
  for (const path of changes.protectedPaths) progress.protectedPaths.add(path);
  yield* noteUserChanges(session, progress.commits);
  checkout.newSubmodules = [...new Set([...checkout.newSubmodules, ...changes.newSubmodules])];
});
