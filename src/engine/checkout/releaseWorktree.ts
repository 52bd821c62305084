import { existsSync } from "node:fs";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import { BranchDeletedError, type SandduneError } from "../../errors.ts";
import { holdsFiles, isEmptyWorktree } from "../../git/overlay/overlayCheckout.ts";
import { branchRef, isAncestor, updateRefs } from "../../git/refs.ts";
import { tipRef } from "../../git/runRefs.ts";
import { unlockWorktree } from "../../git/worktrees/worktreeLock.ts";
import {
  deleteBranch,
  discardWorktree,
  forgetWorktree,
  removeWorktreeIfClean,
  type WorktreeRemoval,
} from "../../git/worktrees/worktrees.ts";
import { markLanded } from "../landing/land.ts";
import type { Session } from "../session/session.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import { cleanUpAfterAgent, disarmRepositories } from "./cleanUpAfterAgent.ts";
import { refreshTip, switchedTo } from "./hostChanges.ts";
import { keepOverlay } from "./overlay.ts";

/** The reason to keep the worktree even if it is clean; `undefined` if there is none. */
const reasonToKeep = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<string | undefined> {
  if (checkout.survivor !== undefined) return `the sandbox ${checkout.survivor} may still be at work in it`;
  const [reason] = checkout.keepReasons;
  if (reason !== undefined) return reason;
  const elsewhere = yield* Effect.catch(switchedTo(checkout), () => Effect.succeed("something unknown"));
  if (elsewhere !== undefined) return `it was switched to ${elsewhere}`;
  const isAborted = exit._tag === "Failure" && Cause.hasInterrupts(exit.cause);
  return isAborted && session.agentHasStarted ? "the run was aborted" : undefined;
});

/** The user may have committed in the worktree, or merged its branch, since the last call. */
const takeStock = Effect.fnUntraced(function* (
  { plan, progress }: Session,
  checkout: CheckoutSession,
): Effect.fn.Return<void> {
  const { branches, repository, branch } = checkout;
  if (!checkout.lasts) return;
  const gone = yield* refreshTip(checkout).pipe(
    Effect.as(undefined),
    Effect.catch((error) => Effect.succeed(error)),
  );
  if (gone instanceof BranchDeletedError) {
    const kept = tipRef(plan.runId);
    yield* Effect.ignore(updateRefs(repository.topLevel, [{ ref: kept, to: checkout.tip }]));
    checkout.keepReasons.add("its branch was deleted");
    progress.warn(`Branch ${gone.branch} was deleted. Its commits are kept as ${kept}.`);
    return;
  }
  if (branches.strategy !== "merge-to-head" || checkout.tip === checkout.landed) return;
  const target = branches.targetBranch === undefined ? "HEAD" : branchRef(branches.targetBranch);
  const isMerged = yield* isAncestor(repository.topLevel, checkout.tip, target).pipe(
    Effect.catch(() => Effect.succeed(false)),
  );
  if (isMerged) markLanded(checkout);
  else progress.warn(`Some commits were not merged. To see them: git log ${branch}`);
});

/** Removes the worktree if possible. Succeeds with the reason if it is kept. */
const removeWorktree = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<string | undefined> {
  const { progress } = session;
  const { repository, path } = checkout;
  if (checkout.overlay === undefined && !existsSync(path)) {
    progress.warn(`The worktree ${path} no longer exists.`);
    yield* forgetWorktree(repository, path);
    return undefined;
  }
  const reason =
    checkout.isMereCopy && checkout.survivor === undefined
      ? undefined
      : yield* keepOverlay(session, checkout, yield* reasonToKeep(session, checkout, exit));
  if (checkout.indexAt !== checkout.tip) yield* cleanUpAfterAgent(session, checkout);
  if (reason !== undefined) return reason;
  // An empty worktree holds no work: its overlay is clean, or could not be made. A tool of the user may have given it an index.
  const isEmpty = checkout.overlay === undefined ? isEmptyWorktree(checkout) : !holdsFiles(path);
  const isWorthless = checkout.isMereCopy || isEmpty;
  const removal = isWorthless ? discardWorktree(repository, path) : removeWorktreeIfClean(repository, path);
  const { isRemoved, undeletable } = yield* Effect.scoped(removal).pipe(
    Effect.catch((error: SandduneError) => {
      progress.warn(`The worktree at ${path} could not be removed: ${error.message}`);
      return Effect.succeed<WorktreeRemoval>({ isRemoved: false });
    }),
  );
  if (undeletable !== undefined)
    progress.warn(`Files of the worktree could not be deleted. They are in ${undeletable}.`);
  return isRemoved ? undefined : "it has uncommitted changes, or could not be removed";
});

/** Removes or keeps the worktree and a branch that was created for it. Never hides the session's own error. */
export const releaseWorktree = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void> {
  const { journal, progress, display } = session;
  const { repository, path, worktree } = checkout;
  if (worktree === undefined) return;
  yield* takeStock(session, checkout);
  const reason = yield* removeWorktree(session, checkout, exit);
  if (reason !== undefined) {
    journal.tell({ type: "kept", what: "worktree", name: path, reason });
    // It is empty and stays locked. The warning about that says where the files are.
    if (checkout.overlay !== undefined && session.keepsOverlay) return;
    progress.preservedWorktreePath = path;
    display.note(`Worktree kept at ${path}: ${reason}.`);
    yield* disarmRepositories(session, checkout);
    return yield* unlockWorktree(repository, path);
  }
  journal.tell({ type: "removed", what: "worktree", name: path });

  const isTemporary = checkout.branches.strategy === "merge-to-head";
  const isDisposable =
    checkout.tip === checkout.landed && (isTemporary || checkout.isMereCopy || exit._tag === "Failure");
  if (!worktree.isNewBranch || !isDisposable) return;
  if (!(yield* deleteBranch(repository, worktree.branch, checkout.tip))) return;
  journal.tell({ type: "removed", what: "branch", name: worktree.branch });
  // The target branch has all its commits.
  if (isTemporary) progress.branch = checkout.branches.targetBranch ?? "HEAD";
});
