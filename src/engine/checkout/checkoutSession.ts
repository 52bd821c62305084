import { lstatSync } from "node:fs";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { lockBranch } from "../../git/locks/locks.ts";
import { prepareToUpdateRefs } from "../../git/longLived/sharedGit.ts";
import type { KnownChange } from "../../git/merge/changes.ts";
import { settleBeforeWork } from "../../git/merge/earlierMerge.ts";
import {
  findNestedRepositories,
  type NestedRepositories,
} from "../../git/nestedRepositories/findNestedRepositories.ts";
import type { OverlayCheckout } from "../../git/overlay/overlayCheckout.ts";
import { updateRefs } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { isDirty } from "../../git/worktrees/worktreeStatus.ts";
import {
  type GitWorktree,
  inspectSourceBranch,
  openWorktree,
  type SourceBranch,
  worktreePathOf,
} from "../../git/worktrees/worktrees.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import { lockNameOf } from "../../runs/recover/recoverLocation.ts";
import type { CheckoutPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import { warnOnFailure } from "../session/warnOnFailure.ts";
import { type OpenSetup, openSetup } from "../setup/openSetup.ts";
import { cleanUpAfterAgent, disarmRepositories, nestedSearch } from "./cleanUpAfterAgent.ts";
import { copyCheckout, requireUnused } from "./copyCheckout.ts";
import { choosesOverlay, openSessionOverlay, verifyWhileWorking } from "./overlay.ts";
import { recoverDeadRuns } from "./recoverDeadRuns.ts";
import { releaseWorktree } from "./releaseWorktree.ts";

/** The paths of `copyToWorktree`. */
export interface CopiedItems {
  readonly items: readonly string[];
  /** How long copying may take. */
  readonly timeoutMs: number;
}

/** A directory on the host that agents work in. It belongs to the session that holds its lock. */
export interface CheckoutSession {
  /** The session that holds the lock. */
  readonly ownerId: string;
  readonly repository: Repository;
  readonly branches: BranchPlan;
  readonly path: string;
  readonly gitDirectory: string;
  /** `undefined` when HEAD is detached. */
  readonly branch: string | undefined;
  /** It outlives the call that made it. */
  readonly lasts: boolean;
  /** `undefined` with the `head` strategy. */
  readonly worktree: GitWorktree | undefined;
  /** Where the files are, as long as the worktree is empty. */
  overlay: OverlayCheckout | undefined;
  /** The commit of the source branch on the host. Each import moves it. */
  tip: string;
  /** What the last import has read of the commits since the base of its run, if they build on it. */
  lastMove: KnownChange | undefined;
  /** The last commit of the source branch that is in the target branch, or that existed before. */
  landed: string;
  /** All commits that sessions made in it, including those that were rewritten later. */
  readonly commits: Set<string>;
  /** The commit that the index matches. */
  indexAt: string;
  /** Repositories inside the checkout that no agent made. */
  nestedRepositories: NestedRepositories;
  /** Bare repositories in this commit belong to the user. */
  readonly trustedCommit: string | undefined;
  /** Files that were last changed before this time belong to the user (nanoseconds). 0 for a worktree. */
  readonly usersUntil: bigint;
  /** The paths of its sandboxes' environments in the repository. */
  readonly gradingPaths: Set<string>;
  /** Directories that agents' commits turned into submodules. */
  newSubmodules: readonly string[];
  /** The number of open sandboxes on it. A process may run in each of them. */
  openSandboxes: number;
  /** A sandbox on it that could not be closed: processes in it may still change the files. */
  survivor: string | undefined;
  /** Commands have run in a sandbox on it, and may have left any files in it. */
  isUsed: boolean;
  /** The user or hooks of the host may have written files into it. */
  isTouched: boolean;
  /** Where the first hooks of the next sandbox stand, if that was looked up when the files were written. */
  setup: OpenSetup | undefined;
  /** The files that were copied into it. */
  copied: CopiedItems;
  /** Reasons to keep the worktree even if it is clean. */
  readonly keepReasons: Set<string>;
  /** It is a copy of another checkout, and no one has worked in it: it holds no work of its own. */
  isMereCopy: boolean;
  /** The branch of the checkout that it was copied from. */
  copiedFrom: string | undefined;
}

type Place = Pick<
  CheckoutSession,
  "path" | "gitDirectory" | "branch" | "worktree" | "lasts" | "trustedCommit" | "usersUntil"
>;

const checkoutAt = ({ plan }: Session, place: Place, sha: string): CheckoutSession => ({
  ownerId: plan.runId,
  repository: plan.repository,
  branches: plan.branches,
  ...place,
  overlay: undefined,
  tip: sha,
  lastMove: undefined,
  landed: sha,
  commits: new Set(),
  indexAt: sha,
  nestedRepositories: new Map(),
  gradingPaths: new Set(),
  newSubmodules: [],
  openSandboxes: 0,
  survivor: undefined,
  isUsed: false,
  isTouched: false,
  setup: undefined,
  copied: { items: [], timeoutMs: 0 },
  keepReasons: new Set(),
  isMereCopy: false,
  copiedFrom: undefined,
});

/** Agents may have committed to an existing branch, and to the one that a fork starts from. */
const trustedCommitOf = (
  { isNewBranch, baseSha }: GitWorktree,
  { plan }: Session,
  copyOf: CheckoutSession | undefined,
): string | undefined => {
  if (copyOf !== undefined) return copyOf.trustedCommit;
  return isNewBranch ? baseSha : plan.host.head.sha;
};

const takeWorktree = Effect.fnUntraced(function* (
  session: Session,
  source: SourceBranch,
  checkoutPlan: CheckoutPlan,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const { plan, journal, progress } = session;
  const { lasts, copyOf } = checkoutPlan;
  const setup =
    source.isRegistered || checkoutPlan.setup === undefined
      ? undefined
      : yield* openSetup(session, checkoutPlan.setup, source.sha);
  const usesOverlay = yield* choosesOverlay(session, checkoutPlan, source, setup?.taken?.record);
  const isEmpty = usesOverlay || copyOf !== undefined;
  if (copyOf !== undefined) yield* requireUnused(plan.repository, source);
  if (!source.exists) journal.write({ type: "creating", what: "branch", name: source.branch });
  const name = worktreePathOf(plan.repository, source.branch);
  const announce = ({ isReused }: Pick<GitWorktree, "isReused">) =>
    journal.write({
      ...{ type: "creating", what: "worktree", name, isNew: !isReused },
      ...(copyOf !== undefined && { isCopy: true }),
    });
  const checkout = yield* Effect.acquireRelease(
    Effect.scoped(openWorktree(plan.repository, source, plan.runId, announce, { isEmpty })).pipe(
      Effect.map((worktree) => {
        // Durable before anything is written into it: an unfinished worktree is discarded.
        if (copyOf === undefined)
          journal.write({ type: "created", what: "worktree", name }, { isDurable: true });
        const trustedCommit = trustedCommitOf(worktree, session, copyOf);
        const place = { ...worktree, worktree, lasts, trustedCommit, usersUntil: 0n };
        return checkoutAt(session, place, worktree.baseSha);
      }),
    ),
    (opened, exit) =>
      warnOnFailure(releaseWorktree(session, opened, exit), (sentence) => progress.warn(sentence)),
  );
  checkout.setup = setup;
  if (copyOf !== undefined) yield* copyCheckout(session, copyOf, checkout);
  if (usesOverlay) {
    const kept = setup?.taken && { ...setup.taken, isLayer: checkoutPlan.stacksLayers };
    checkout.overlay = yield* openSessionOverlay(session, checkout, source.branch, kept);
    progress.checkout = "overlay";
    session.keepsOverlay = true;
    yield* verifyWhileWorking(session, checkout.overlay);
  }
  if (checkout.worktree?.isReused) {
    // The earlier run may have been killed before it could do that.
    yield* disarmRepositories(session, checkout);
    if (yield* isDirty(checkout.path)) {
      progress.warn(`Using the worktree of an earlier run, which has uncommitted changes: ${checkout.path}`);
    }
  }
  return checkout;
});

/** With `head`, the agent works in the user's checkout. */
const takeUserCheckout = Effect.fnUntraced(function* (
  session: Session,
  isShared: boolean,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const { repository, host, runId } = session.plan;
  const { sha, branch } = host.head;
  const { topLevel: path, gitDirectory } = repository;
  // Read from the file system, whose clock may be another machine's.
  const { ctimeNs: usersUntil } = lstatSync(session.journal.filesDirectory, { bigint: true });
  const trustedCommit = undefined;
  const place = { path, gitDirectory, branch, worktree: undefined, lasts: false, trustedCommit, usersUntil };
  const checkout = checkoutAt(session, place, sha);
  yield* updateRefs(path, [{ ref: baseRef(runId), to: sha }]);
  if (isShared) return checkout;
  const sentence = yield* settleBeforeWork(repository, { runId, branch });
  if (sentence !== undefined) session.progress.warn(sentence);
  checkout.nestedRepositories = yield* findNestedRepositories(nestedSearch(checkout));
  yield* Effect.addFinalizer(() =>
    warnOnFailure(checkout.isUsed ? cleanUpAfterAgent(session, checkout) : Effect.void, (sentence) =>
      session.progress.warn(sentence),
    ),
  );
  return checkout;
});

const announceBase = ({ plan, journal, redundantRefs }: Session): void => {
  const ref = baseRef(plan.runId);
  journal.write({ type: "creating", what: "ref", name: ref });
  redundantRefs.add(ref);
};

/** Protects a sandbox's first commit from garbage collection, if the session does not own the checkout. */
export const pinBase = (
  session: Session,
  { ownerId, repository, tip }: CheckoutSession,
): Effect.Effect<void, SandduneError> =>
  Effect.suspend(() => {
    if (ownerId === session.plan.runId) return Effect.void;
    announceBase(session);
    return updateRefs(repository.topLevel, [{ ref: baseRef(session.plan.runId), to: tip }]);
  });

/** Locks the branch and creates the directory that the agent works in. The scope releases both. */
export const openCheckout = Effect.fnUntraced(function* (
  session: Session,
  plan: CheckoutPlan,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const { repository, branches, runId } = session.plan;
  const { source, isShared } = plan;
  yield* prepareToUpdateRefs;
  if (!isShared) {
    yield* lockBranch(repository, lockNameOf(branches.sourceBranch, repository.topLevel), runId);
    yield* recoverDeadRuns(session);
  }
  announceBase(session);
  session.progress.checkout = source === undefined ? "head" : "worktree";
  if (source === undefined) return yield* takeUserCheckout(session, isShared);
  const found = yield* inspectSourceBranch(repository, session.plan.host, source.branch, source.from);
  return yield* takeWorktree(session, found, plan);
});
