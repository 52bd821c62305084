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
  type Worktree,
  worktreePathOf,
} from "../git/worktrees.ts";
import type { RunContext } from "./runContext.ts";

export interface CheckoutSession {
  readonly checkout: Checkout;
  readonly worktree: Worktree | undefined;
}

/** Keeps the base commit alive for as long as the run needs it. */
const pinBase = (
  { plan, journal }: RunContext,
  sha: string,
): Effect.Effect<void, SandduneError, Scope.Scope> => {
  const ref = baseRef(plan.runId);
  const cwd = plan.repository.topLevel;
  return Effect.acquireRelease(
    Effect.suspend(() => {
      journal.write({ type: "creating", what: "ref", name: ref });
      return updateRefs(cwd, [{ ref, to: sha }]);
    }),
    () =>
      updateRefs(cwd, [{ ref, to: undefined }]).pipe(
        Effect.tap(() => Effect.sync(() => journal.tell({ type: "removed", what: "ref", name: ref }))),
        Effect.ignore,
      ),
  );
};

/** What the agent leaves on the host must not run there by itself. */
const disarm = (context: RunContext, checkoutPath: string): Effect.Effect<void> =>
  disarmNestedRepositories(checkoutPath, context.nestedRepositories, context.plan.runId).pipe(
    Effect.tap((warnings) => Effect.sync(() => context.progress.warnings.push(...warnings))),
    Effect.asVoid,
    Effect.catch((error: SandduneError) =>
      Effect.sync(
        () =>
          void context.progress.warnings.push(
            `Could not look for repositories of the agent's in ${checkoutPath}: ${error.message}`,
          ),
      ),
    ),
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
    context.log.note(`Worktree kept at ${worktree.path}: ${why}.`);
    yield* disarm(context, worktree.path);
  });
  const reason = reasonToKeep(context, exit);
  if (reason !== undefined) return yield* keep(reason);
  const removed = yield* Effect.scoped(removeWorktreeIfClean(plan.repository, worktree.path)).pipe(
    Effect.catch((error: SandduneError) => {
      context.log.note(`Could not tell whether the worktree is clean: ${error.message}`);
      return Effect.succeed(false);
    }),
  );
  if (!removed) return yield* keep("it holds uncommitted changes");
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

const openRunWorktree = Effect.fnUntraced(function* (
  context: RunContext,
  branch: string,
): Effect.fn.Return<Worktree, SandduneError, Scope.Scope> {
  const { plan, journal, progress } = context;
  journal.write({ type: "creating", what: "worktree", name: worktreePathOf(plan.repository, branch) });
  const worktree = yield* Effect.acquireRelease(
    Effect.scoped(openWorktree(plan.repository, branch, plan.branches.from, plan.runId)),
    (opened, exit) => releaseWorktree(context, opened, exit),
  );
  context.tip = worktree.baseSha;
  if (worktree.isReused && (yield* isDirty(worktree.path))) {
    progress.warnings.push(
      `The worktree of an earlier run was taken over, with the uncommitted changes in it: ${worktree.path}`,
    );
  }
  return worktree;
});

/** Locks the branch and makes the directory that the agent will work in; both are given back with the scope. */
export const openCheckoutSession = Effect.fnUntraced(function* (
  context: RunContext,
): Effect.fn.Return<CheckoutSession, SandduneError, Scope.Scope> {
  const { plan } = context;
  const { repository, branches } = plan;
  yield* lockBranch(repository, branches.sourceBranch ?? `HEAD of ${repository.topLevel}`, plan.runId);
  if (branches.strategy === "head") {
    const { sha, branch } = repository.head;
    context.tip = sha;
    yield* pinBase(context, sha);
    context.nestedRepositories = yield* findNestedRepositories(repository.topLevel);
    yield* Effect.addFinalizer(() =>
      context.agentHasStarted ? disarm(context, repository.topLevel) : Effect.void,
    );
    return {
      checkout: { path: repository.topLevel, gitDirectory: repository.gitDirectory, branch, sha },
      worktree: undefined,
    };
  }
  const worktree = yield* openRunWorktree(context, branches.sourceBranch);
  yield* pinBase(context, worktree.baseSha);
  return {
    checkout: {
      path: worktree.path,
      gitDirectory: worktree.gitDirectory,
      branch: worktree.branch,
      sha: worktree.baseSha,
    },
    worktree,
  };
});
