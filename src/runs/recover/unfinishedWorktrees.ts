import { lstatSync } from "node:fs";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { lockWorktrees } from "../../git/locks/locks.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { adminDirectoriesOf, isAttached, isUsable } from "../../git/worktrees/adminDirectory.ts";
import { compareWithCommit } from "../../git/worktrees/compareWithCommit.ts";
import { removeAdminDirectories } from "../../git/worktrees/removeWorktree.ts";
import { discardWorktree, worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";

/** The place of a branch's worktree, and the runs that have worked there, the latest last. None of them is running. */
export interface WorktreePlace {
  readonly path: string;
  readonly branch: string;
  readonly owners: readonly StoredRun[];
}

/** Where runs have made worktrees, if no run is at work there. */
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

/** What is at such a place. */
export type WorktreeState =
  | { readonly state: "none" | "whole" | "worthless" }
  /** Git cannot use it, and something in it is nowhere else. */
  | { readonly state: "kept"; readonly reason: string };

/**
 * Whether what is in the place of a worktree is a worktree. Git may have been killed while it made or removed it, or have
 * forgotten it: the rest is worthless as long as there is nothing in it that the branch does not have.
 */
export const inspectWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  { path, branch, owners }: WorktreePlace,
): Effect.fn.Return<WorktreeState, SandduneError> {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return { state: "none" };
  const latest = owners.at(-1);
  const isUnfinished = latest?.unfinishedWorktree === path;
  if (!status.isDirectory()) return { state: "kept", reason: "it is no directory" };
  if (!isUnfinished && isAttached(repository, path)) return { state: "whole" };
  const commit =
    (yield* resolveCommit(repository.topLevel, branchRef(branch))) ??
    (latest && (yield* resolveCommit(repository.topLevel, baseRef(latest.runId))));
  if (commit === undefined)
    return { state: "kept", reason: "its branch is gone, and so is what git knew of it" };
  const { hasNewFiles, hasChangedFiles } = yield* compareWithCommit(repository, path, commit);
  // Git was in the middle of writing a file: in a worktree that was never finished, a file that differs is half of one.
  if (hasNewFiles || (hasChangedFiles && !isUnfinished))
    return {
      state: "kept",
      reason: "git does not know it any more, and it holds files that are not on the branch",
    };
  return { state: "worthless" };
});

/** Removes what is worthless in the place of a worktree. */
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
 * Lets git forget worktrees of runs that it was making or removing when it was killed. As long as it knows half of one, most
 * git commands may fail, and the branch counts as checked out. Resolves with whether there were any.
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
          // What was half made a moment ago may be whole now: a run that has just begun made it.
          const found = unusable();
          await removeAdminDirectories(repository, found);
          return found.length > 0;
        }),
      ),
    ),
  );
});
