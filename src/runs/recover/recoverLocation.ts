import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { BranchInUseError, type SandduneError } from "../../errors.ts";
import { lockBranch } from "../../git/locks/locks.ts";
import type { Repository } from "../../git/repository.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { listRuns } from "../listRuns.ts";
import { listOrphans } from "../orphans.ts";
import type { StoredRun } from "../storedRun.ts";
import { hasOverlay } from "./deadOverlay.ts";
import { sandboxesOf } from "./leftSandbox.ts";
import { recoverRun } from "./recoverRun.ts";
import { sentencesOf } from "./recovery.ts";
import {
  discardWorthless,
  forgetUnusable,
  inspectWorktree,
  worktreePlaces,
  worthlessBecause,
} from "./unfinishedWorktrees.ts";

/** What a run is about to use: a branch, and with the strategy `head` the user's checkout. */
export interface RunLocation {
  readonly repository: Repository;
  /** `undefined` when HEAD is detached. */
  readonly branch: string | undefined;
  /** The user's checkout; `undefined` if the run uses a worktree. */
  readonly checkoutPath: string | undefined;
}

/** The name of the lock that a run takes. */
export const lockNameOf = (branch: string | undefined, checkoutPath: string): string =>
  branch ?? `HEAD of ${checkoutPath}`;

const lockNameOfRun = ({ branch, work }: StoredRun, { topLevel }: Repository): string =>
  lockNameOf(branch, work?.checkoutPath ?? topLevel);

/** Locks the branch of a run for its recovery. */
export const lockRun = (
  repository: Repository,
  run: StoredRun,
): Effect.Effect<void, SandduneError, Scope.Scope> =>
  lockBranch(repository, lockNameOfRun(run, repository), `${run.runId}, which is being rescued,`);

/**
 * Whether something that a run started may still be running, or some work is not imported yet. Even a run that ended
 * properly may have failed to close its sandbox.
 */
export const isUnrecovered = (repository: Repository, run: StoredRun): boolean => {
  if (run.state === "running") return false;
  if ((run.state === "dead" && run.recovery === undefined) || hasOverlay(repository, run)) return true;
  return run.work !== undefined && !run.work.isIsolated && sandboxesOf(run).length > 0;
};

const concerns = (run: StoredRun, { branch, checkoutPath }: RunLocation): boolean =>
  (branch !== undefined && run.branch === branch) ||
  (checkoutPath !== undefined && run.strategy === "head" && run.work?.checkoutPath === checkoutPath);

const countOf = (text: string, part: string): number => text.split(part).length - 1;

/** Whether the raw text of a journal shows that its run ended and removed everything. */
const isSettled = (journal: string): boolean =>
  journal.includes('"type":"ended"') &&
  !journal.includes('"within":"') &&
  ["sandbox", "worktree"].every(
    (what) =>
      countOf(journal, `"type":"creating","what":"${what}"`) <=
      countOf(journal, `"type":"removed","what":"${what}"`),
  );

/** The runs that may have left something at a location. */
const runsIn = ({ repository, branch, checkoutPath }: RunLocation): StoredRun[] => {
  const isOnBranch = `"sourceBranch":${JSON.stringify(branch)}`;
  const runs = listRuns(
    repository,
    () => {},
    (journal) =>
      (journal.includes(isOnBranch) ||
        (checkoutPath !== undefined && journal.includes('"strategy":"head"'))) &&
      !isSettled(journal),
  );
  return [...runs, ...listOrphans(repository)];
};

/** Whether ended runs may have left something at a location. */
export const hasUnrecovered = (place: RunLocation): boolean =>
  runsIn(place).some((run) => isUnrecovered(place.repository, run) && concerns(run, place));

/** What was done at a location before the next run uses it. */
export interface LocationRecovery {
  readonly told: readonly string[];
  /** Branches, worktrees or files may have changed. */
  readonly hasChanged: boolean;
}

/** Git may have been killed while it created or removed the worktree of the branch. */
const recoverWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  branch: string | undefined,
): Effect.fn.Return<string[], SandduneError> {
  const place = worktreePlaces(repository, runs).find((candidate) => candidate.branch === branch);
  if (place === undefined) return [];
  const found = yield* inspectWorktree(repository, place);
  if (found.state === "kept") {
    const rest = `the rest of the worktree ${place.path}: ${found.reason}`;
    const hint = `Copy what you need, then: ${sandduneCommand("clean", "--branch", place.branch, "--yes")}`;
    return yield* Effect.fail(new BranchInUseError(place.branch, rest, hint));
  }
  if (found.state !== "worthless") return [];
  yield* discardWorthless(repository, place);
  return [
    `The worktree ${place.path} had nothing to keep (${worthlessBecause[found.because]}): it was created again.`,
  ];
});

/**
 * Recovers every run that may have left something at a location. The caller holds the lock of the branch. Fails if
 * something that may still be running there cannot be ended.
 */
export const recoverLocation = Effect.fnUntraced(function* (
  place: RunLocation,
): Effect.fn.Return<LocationRecovery, SandduneError> {
  const { repository, branch, checkoutPath } = place;
  const runs = runsIn(place);
  yield* forgetUnusable(repository, runs);
  const concerned = runs.filter((run) => isUnrecovered(repository, run) && concerns(run, place));
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
