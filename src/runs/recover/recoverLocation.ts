import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { BranchInUseError, type SandduneError } from "../../errors.ts";
import { lockBranch } from "../../git/locks/locks.ts";
import type { Repository } from "../../git/repository.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { listRuns } from "../listRuns.ts";
import type { StoredRun } from "../storedRun.ts";
import { sandboxesOf } from "./leftSandbox.ts";
import { recoverRun } from "./recoverRun.ts";
import { sentencesOf } from "./recovery.ts";
import { discardWorthless, forgetUnusable, inspectWorktree, worktreePlaces } from "./unfinishedWorktrees.ts";

/** What a run is about to work in: a branch, and with `head` the user's checkout. */
export interface RunLocation {
  readonly repository: Repository;
  /** `undefined` when HEAD is detached. */
  readonly branch: string | undefined;
  /** The user's checkout; `undefined` if the work is done in a worktree. */
  readonly checkoutPath: string | undefined;
}

/** The lock of what a run works on. */
export const lockNameOf = (branch: string | undefined, checkoutPath: string): string =>
  branch ?? `HEAD of ${checkoutPath}`;

const lockNameOfRun = ({ branch, work }: StoredRun, { topLevel }: Repository): string =>
  lockNameOf(branch, work?.checkoutPath ?? topLevel);

/** Holds what a run worked on, for as long as it is recovered. */
export const lockRun = (
  repository: Repository,
  run: StoredRun,
): Effect.Effect<void, SandduneError, Scope.Scope> =>
  lockBranch(repository, lockNameOfRun(run, repository), `${run.runId}, which is being rescued,`);

/**
 * Whether something of a run may still be at work, or not be imported yet. One that has ended in order could not always close
 * its sandbox.
 */
export const isUnrecovered = (run: StoredRun): boolean => {
  if (run.state === "running") return false;
  if (run.state === "dead" && run.recovery === undefined) return true;
  return run.work !== undefined && !run.work.isIsolated && sandboxesOf(run).length > 0;
};

const concerns = (run: StoredRun, { branch, checkoutPath }: RunLocation): boolean =>
  (branch !== undefined && run.branch === branch) ||
  (checkoutPath !== undefined && run.strategy === "head" && run.work?.checkoutPath === checkoutPath);

const countOf = (text: string, part: string): number => text.split(part).length - 1;

/** Whether a journal says, at a glance, that its run has ended and removed everything. */
const isSettled = (journal: string): boolean =>
  journal.includes('"type":"ended"') &&
  !journal.includes('"within":"') &&
  ["sandbox", "worktree"].every(
    (what) =>
      countOf(journal, `"type":"creating","what":"${what}"`) <=
      countOf(journal, `"type":"removed","what":"${what}"`),
  );

/** The runs that may have left something in a place. */
const runsIn = ({ repository, branch, checkoutPath }: RunLocation): StoredRun[] => {
  const isOnBranch = `"sourceBranch":${JSON.stringify(branch)}`;
  return listRuns(
    repository,
    () => {},
    (journal) =>
      (journal.includes(isOnBranch) ||
        (checkoutPath !== undefined && journal.includes('"strategy":"head"'))) &&
      !isSettled(journal),
  );
};

/** Whether runs that are over may have left something in the place. */
export const hasUnrecovered = (place: RunLocation): boolean =>
  runsIn(place).some((run) => isUnrecovered(run) && concerns(run, place));

/** What was done in a place before another run works there. */
export interface LocationRecovery {
  /** In sentences. */
  readonly told: readonly string[];
  /** Branches, worktrees or files may not be as they were. */
  readonly hasChanged: boolean;
}

/** Git may have been killed while it made or removed the worktree of the branch. */
const recoverWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  branch: string | undefined,
): Effect.fn.Return<string[], SandduneError> {
  const place = worktreePlaces(repository, runs).find((candidate) => candidate.branch === branch);
  if (place === undefined) return [];
  const found = yield* inspectWorktree(repository, place);
  if (found.state === "kept") {
    const rest = `what is left of the worktree ${place.path}: ${found.reason}`;
    const hint = `Take out what you need, then: ${sandduneCommand("clean", "--branch", place.branch, "--yes")}`;
    return yield* Effect.fail(new BranchInUseError(place.branch, rest, hint));
  }
  if (found.state !== "worthless") return [];
  yield* discardWorthless(repository, place);
  return [`Git was interrupted while it made or removed the worktree ${place.path}: it was made anew.`];
});

/**
 * Recovers every run that may have left something in a place. The caller holds the lock of the place's branch. Fails if
 * something that may be at work there cannot be ended.
 */
export const recoverLocation = Effect.fnUntraced(function* (
  place: RunLocation,
): Effect.fn.Return<LocationRecovery, SandduneError> {
  const { repository, branch, checkoutPath } = place;
  const runs = runsIn(place);
  yield* forgetUnusable(repository, runs);
  const concerned = runs.filter((run) => isUnrecovered(run) && concerns(run, place));
  const held = lockNameOf(branch, repository.topLevel);
  const recoveries = yield* Effect.forEach(concerned, (run) =>
    lockNameOfRun(run, repository) === held
      ? recoverRun(repository, runs, run)
      : Effect.scoped(Effect.andThen(lockRun(repository, run), recoverRun(repository, runs, run))),
  );
  const ofWorktree = checkoutPath === undefined ? yield* recoverWorktree(repository, runs, branch) : [];
  return {
    told: [...recoveries.flatMap(sentencesOf), ...ofWorktree],
    hasChanged: concerned.length > 0 || ofWorktree.length > 0,
  };
});
