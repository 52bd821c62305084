import { dirname } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../errors.ts";
import { lockBranch } from "../git/locks.ts";
import { disarmNestedRepositories, findNestedRepositories } from "../git/nestedRepositories.ts";
import { updateRefs } from "../git/refs.ts";
import { baseRef } from "../git/runRefs.ts";
import type { Checkout } from "../git/sandboxGitDirectory.ts";
import { isDirty } from "../git/worktreeStatus.ts";
import {
  deleteBranch,
  openWorktree,
  removeWorktreeIfClean,
  type SourceBranch,
  type Worktree,
  worktreePathOf,
} from "../git/worktrees.ts";
import { followBranch } from "./followBranch.ts";
import type { RunContext } from "./runContext.ts";
import { tidying } from "./tidying.ts";

export interface CheckoutSession {
  readonly checkout: Checkout;
  readonly worktree: Worktree | undefined;
}

/** What the agent leaves on the host must not run there by itself. */
const disarm = (context: RunContext, checkoutPath: string): Effect.Effect<void> => {
  const skipsConfigDirectory = checkoutPath === dirname(context.plan.repository.configDirectory);
  const search = { checkoutPath, skipsConfigDirectory, submodulePaths: context.newSubmodules };
  return disarmNestedRepositories(search, context.nestedRepositories).pipe(
    Effect.catch((error: SandduneError) =>
      Effect.succeed([`Could not look for repositories of the agent's in ${checkoutPath}: ${error.message}`]),
    ),
    Effect.map((sentences) => {
      context.progress.warn(...sentences);
    }),
  );
};

/** The agent is gone: its repositories are disarmed, and an index that had to wait for that follows its branch. */
const settle = (context: RunContext, checkout: Checkout): Effect.Effect<void> =>
  disarm(context, checkout.path).pipe(
    Effect.andThen(followBranch(context, checkout, { agentIsGone: true })),
    Effect.catch((error: SandduneError) => Effect.succeed(error.message)),
    Effect.map((problem) => {
      if (problem !== undefined) context.progress.warn(problem);
    }),
  );

/** Why the worktree must stay although git may call it clean; `undefined` when nothing speaks for it. */
const reasonToKeep = (context: RunContext, exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (context.keepWorktreeReason !== undefined) return context.keepWorktreeReason;
  const isAborted = exit._tag === "Failure" && Cause.hasInterrupts(exit.cause);
  return isAborted && context.agentHasStarted ? "the run was aborted" : undefined;
};

/** Decides what becomes of the worktree and of a branch that was made for this run. Never hides the run's own error. */
const releaseWorktree = Effect.fnUntraced(function* (
  context: RunContext,
  worktree: Worktree,
  exit: Exit.Exit<unknown, unknown>,
): Effect.fn.Return<void> {
  const { plan, journal, progress } = context;
  const keep = Effect.fnUntraced(function* (why: string) {
    progress.preservedWorktreePath = worktree.path;
    journal.tell({ type: "kept", what: "worktree", name: worktree.path, reason: why });
    context.display.note(`Worktree kept at ${worktree.path}: ${why}.`);
    yield* disarm(context, worktree.path);
  });
  if (context.indexAt !== context.tip) yield* settle(context, checkoutOf(worktree));
  const reason = reasonToKeep(context, exit);
  if (reason !== undefined) return yield* keep(reason);
  const removed = yield* Effect.scoped(removeWorktreeIfClean(plan.repository, worktree.path)).pipe(
    Effect.catch((error: SandduneError) => {
      progress.warn(`The worktree at ${worktree.path} could not be removed: ${error.message}`);
      return Effect.succeed(false);
    }),
  );
  if (!removed) return yield* keep("it holds changes that are not committed, or could not be removed");
  journal.tell({ type: "removed", what: "worktree", name: worktree.path });

  const holdsNothingNew = context.tip === worktree.baseSha;
  const isTemporary = plan.branches.strategy === "merge-to-head";
  const isDisposable = isTemporary
    ? holdsNothingNew || context.isMerged
    : holdsNothingNew && exit._tag === "Failure";
  if (worktree.isNewBranch && isDisposable) {
    yield* deleteBranch(plan.repository, worktree.branch, context.tip);
    journal.tell({ type: "removed", what: "branch", name: worktree.branch });
  }
});

const checkoutOf = ({ path, gitDirectory, branch, baseSha }: Worktree): Checkout => ({
  path,
  gitDirectory,
  branch,
  sha: baseSha,
});

const openRunWorktree = Effect.fnUntraced(function* (
  context: RunContext,
  source: SourceBranch,
): Effect.fn.Return<Worktree, SandduneError, Scope.Scope> {
  const { plan, journal, progress } = context;
  if (!source.exists) journal.write({ type: "creating", what: "branch", name: source.branch });
  journal.write({ type: "creating", what: "worktree", name: worktreePathOf(plan.repository, source.branch) });
  const worktree = yield* Effect.acquireRelease(
    Effect.scoped(openWorktree(plan.repository, source, plan.runId)),
    (opened, exit) => tidying(releaseWorktree(context, opened, exit), (sentence) => progress.warn(sentence)),
  );
  context.tip = worktree.baseSha;
  context.indexAt = worktree.baseSha;
  if (worktree.isReused) {
    // The run that left it may have been killed before it could do that.
    yield* disarm(context, worktree.path);
    if (yield* isDirty(worktree.path)) {
      progress.warn(
        `The worktree of an earlier run was taken over, with the uncommitted changes in it: ${worktree.path}`,
      );
    }
  }
  return worktree;
});

/** With `head`, the agent works in the user's own checkout. */
const openUserCheckout = Effect.fnUntraced(function* (
  context: RunContext,
): Effect.fn.Return<Checkout, SandduneError, Scope.Scope> {
  const { repository, host, runId } = context.plan;
  const { sha, branch } = host.head;
  const checkout = { path: repository.topLevel, gitDirectory: repository.gitDirectory, branch, sha };
  context.tip = sha;
  context.indexAt = sha;
  yield* updateRefs(repository.topLevel, [{ ref: baseRef(runId), to: sha }]);
  const search = { checkoutPath: checkout.path, skipsConfigDirectory: true };
  context.nestedRepositories = yield* findNestedRepositories(search);
  yield* Effect.addFinalizer(() =>
    tidying(context.sandboxIsUsed ? settle(context, checkout) : Effect.void, (sentence) =>
      context.progress.warn(sentence),
    ),
  );
  return checkout;
});

/** Locks the branch and makes the directory that the agent will work in; both are given back with the scope. */
export const openCheckoutSession = Effect.fnUntraced(function* (
  context: RunContext,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const { repository, branches, runId, source } = context.plan;
  yield* lockBranch(repository, branches.sourceBranch ?? `HEAD of ${repository.topLevel}`, runId);
  context.journal.write({ type: "creating", what: "ref", name: baseRef(runId) });
  if (source === undefined) return { checkout: yield* openUserCheckout(context), worktree: undefined };
  const worktree = yield* openRunWorktree(context, source);
  return { checkout: checkoutOf(worktree), worktree };
});
