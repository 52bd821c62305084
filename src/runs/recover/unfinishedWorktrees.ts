import { lstatSync } from "node:fs";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { lockWorktrees } from "../../git/locks/locks.ts";
import { isEmptyWorktree } from "../../git/overlay/overlayCheckout.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { adminDirectoriesOf, isAttached, isUsable } from "../../git/worktrees/adminDirectory.ts";
import { compareWithCommit } from "../../git/worktrees/compareWithCommit.ts";
import { removeAdminDirectories } from "../../git/worktrees/removeWorktree.ts";
import { discardWorktree, worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";
import { cameWithRepository } from "./leftSandbox.ts";

/** The path of a branch's worktree, and the runs that used it, the latest last. None of them is running. */
export interface WorktreePlace {
  readonly path: string;
  readonly branch: string;
  readonly owners: readonly StoredRun[];
}

/** The worktrees that runs created, unless a running run uses them. */
export const worktreePlaces = (repository: Repository, runs: readonly StoredRun[]): WorktreePlace[] => {
  const owners = new Map<string, StoredRun[]>();
  for (const run of runs) {
    const isOwner = run.owns.some(({ what }) => what === "worktree");
    if (run.branch !== undefined && isOwner) owners.set(run.branch, [...(owners.get(run.branch) ?? []), run]);
  }
  return [...owners]
    .filter(([, all]) => all.every(({ state }) => state !== "running"))
    .map(([branch, all]) => ({ path: worktreePathOf(repository, branch), branch, owners: all }));
};

/** Why a worktree holds nothing that is nowhere else. */
type Worthless = "empty" | "copy" | "interrupted";

/** In words, for people. */
export const worthlessBecause: Readonly<Record<Worthless, string>> = {
  empty: "no files were written to it",
  copy: "a copy that fork() did not complete; the original has its files",
  interrupted: "git was interrupted while it made or removed it",
};

/** What exists at the path of a worktree. */
export type WorktreeState =
  | { readonly state: "none" | "whole" }
  | { readonly state: "worthless"; readonly because: Worthless }
  /** Git cannot use it, and it contains files that exist nowhere else. */
  | { readonly state: "kept"; readonly reason: string };

/**
 * Examines the path of a worktree. Git may have been killed while it created or removed the worktree, or may no longer list
 * it. The rest is worthless if the branch has everything in it.
 */
export const inspectWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  { path, branch, owners }: WorktreePlace,
): Effect.fn.Return<WorktreeState, SandduneError> {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return { state: "none" };
  const latest = owners.at(-1);
  const isUnfinished = latest?.unfinishedWorktree === path;
  if (!status.isDirectory()) return { state: "kept", reason: "it is not a directory" };
  const [gitDirectory] = adminDirectoriesOf(repository, path);
  if (isUnfinished && latest.isUnfinishedCopy && !(yield* cameWithRepository(repository, latest)))
    return { state: "worthless", because: "copy" };
  if (gitDirectory !== undefined && isEmptyWorktree({ path, gitDirectory }))
    return { state: "worthless", because: "empty" };
  if (!isUnfinished && isAttached(repository, path)) return { state: "whole" };
  const commit =
    (yield* resolveCommit(repository.topLevel, branchRef(branch))) ??
    (latest && (yield* resolveCommit(repository.topLevel, baseRef(latest.runId))));
  if (commit === undefined)
    return { state: "kept", reason: "its branch is gone, and git no longer lists it" };
  const { hasNewFiles, hasChangedFiles } = yield* compareWithCommit(repository, path, commit);
  // In an unfinished worktree a file that differs is one that git was still writing.
  if (hasNewFiles || (hasChangedFiles && !isUnfinished))
    return {
      state: "kept",
      reason: "git no longer lists it, and it holds files that are not on the branch",
    };
  return { state: "worthless", because: "interrupted" };
});

/** Removes the worthless rest of a worktree. */
export const discardWorthless = (
  repository: Repository,
  { path, owners }: WorktreePlace,
): Effect.Effect<void, SandduneError> =>
  Effect.scoped(discardWorktree(repository, path)).pipe(
    Effect.map(() => {
      for (const { runDirectory } of owners)
        amendJournal(runDirectory, { type: "removed", what: "worktree", name: path });
    }),
  );

/**
 * Makes git forget the worktrees that it was creating or removing when it was killed. Until then most git commands may fail,
 * and the branch counts as checked out. Resolves with whether there were any.
 */
export const forgetUnusable = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
): Effect.fn.Return<boolean, SandduneError> {
  const unusable = () =>
    worktreePlaces(repository, runs).flatMap(({ path }) =>
      adminDirectoriesOf(repository, path).filter((administration) => !isUsable(administration)),
    );
  if (unusable().length === 0) return false;
  return yield* Effect.scoped(
    lockWorktrees(repository).pipe(
      Effect.andThen(
        interruptible(async () => {
          // A worktree that was unfinished a moment ago may be finished now: a new run has created it.
          const found = unusable();
          await removeAdminDirectories(repository, found);
          return found.length > 0;
        }),
      ),
    ),
  );
});
