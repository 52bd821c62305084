import { existsSync } from "node:fs";
import * as Effect from "effect/Effect";
import { runAtBoundary } from "../../boundary/boundary.ts";
import { NoRunOnBranchError, RunStillRunningError } from "../../errors/commandErrors.ts";
import type { SandduneError } from "../../errors.ts";
import { lockCleaning, locksDirectory } from "../../git/locks/locks.ts";
import type { Repository } from "../../git/repository.ts";
import { findRun } from "../findRun.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import { listRuns } from "../listRuns.ts";
import { listOrphans } from "../orphans.ts";
import { forgetUnusable } from "../recover/unfinishedWorktrees.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";
import { findBranches } from "./branches.ts";
import { findDeadDirectoryLeftovers } from "./deadDirectories.ts";
import { findFiles } from "./files.ts";
import { findKeptSetups } from "./keptSetups.ts";
import type { CleanScope, Leftover } from "./leftover.ts";
import { findLocks } from "./locks.ts";
import { findMerges } from "./merges.ts";
import { findProcesses } from "./processes.ts";
import { findRecords } from "./records.ts";
import { findRefs } from "./refs.ts";
import { findSandboxes } from "./sandboxes.ts";
import { findSharedCheckouts } from "./sharedCheckouts.ts";
import { findSnapshots } from "./snapshots.ts";
import { findUnknownOverlays } from "./unknownOverlays.ts";
import { findUnlistedSandboxes } from "./unlistedSandboxes.ts";
import { rescueWork } from "./work.ts";
import { findUnfinishedRemovals, findWorktrees } from "./worktrees.ts";

export interface CleanOptions {
  /** Remove things, instead of only listing what would be removed. */
  readonly remove: boolean;
  /** Runs to remove completely, with uncommitted changes and the record; only a branch with their commits stays. */
  readonly runs: readonly string[];
  /** Branches to remove with their worktrees and everything in those; a branch that no run created stays. */
  readonly branches: readonly string[];
  /** Also remove the journals and run logs of runs that have left nothing else. */
  readonly records: boolean;
  readonly signal?: AbortSignal;
  /** Called for each run that is skipped because its journal cannot be read. */
  readonly onUnreadable?: (runDirectory: string) => void;
}

/** What happened to a leftover. */
export type CleanOutcome = Omit<Leftover, "remove"> & {
  readonly outcome: "removed" | "wouldBeRemoved" | "rescued" | "wouldBeRescued" | "kept" | "failed";
  /** What was done about the run's work, in sentences. */
  readonly notes?: readonly string[];
  /** Why it could not be removed. */
  readonly problem?: string;
};

const runsOn = (runs: readonly StoredRun[], branch: string): StoredRun[] => {
  const found = runs.filter((run) => run.branch === branch);
  if (found.length === 0) throw new NoRunOnBranchError(branch);
  return found;
};

/** Throws if a run that the user named is running. */
const select = (
  runs: readonly StoredRun[],
  options: CleanOptions,
): Pick<CleanScope, "selected" | "namedRuns"> => {
  const named = options.runs
    .map((wanted) => findRun(runs, wanted))
    .flatMap((run) => [run, ...runsWithin(runs, run)]);
  const onBranches = options.branches.flatMap((branch) => runsOn(runs, branch));
  const meant = [...new Set([...named, ...onBranches])];
  const running = meant.find(({ state }) => state === "running");
  if (running !== undefined) throw new RunStillRunningError(running.runId);
  return {
    selected: meant.length > 0 ? meant : runs.filter(({ state }) => state !== "running"),
    namedRuns: new Set(named.map(({ runId }) => runId)),
  };
};

const carryOut = (
  { remove, ...leftover }: Leftover,
  isWanted: boolean,
): Effect.Effect<CleanOutcome, SandduneError> => {
  if (leftover.keptBecause !== undefined) return Effect.succeed({ ...leftover, outcome: "kept" });
  if (!isWanted) return Effect.succeed({ ...leftover, outcome: "wouldBeRemoved" });
  return remove.pipe(
    Effect.as<CleanOutcome>({ ...leftover, outcome: "removed" }),
    Effect.catch((error) =>
      Effect.succeed<CleanOutcome>({ ...leftover, outcome: "failed", problem: error.message }),
    ),
  );
};

const staying = (outcomes: readonly CleanOutcome[]): ReadonlySet<string> =>
  new Set(
    outcomes
      .filter(({ outcome }) => outcome === "kept" || outcome === "failed")
      .flatMap(({ runIds }) => runIds),
  );

/**
 * The order matters: processes and sandboxes end before the work in a worktree is rescued, that happens before the worktree
 * is examined, and a worktree is removed before its branch.
 */
const clean = Effect.fnUntraced(function* (
  repository: Repository,
  options: CleanOptions,
): Effect.fn.Return<CleanOutcome[], SandduneError> {
  const runs = [...listRuns(repository, options.onUnreadable), ...listOrphans(repository)];
  const scope: CleanScope = {
    repository,
    runs,
    ...select(runs, options),
    namedBranches: new Set(options.branches),
    unsettled: new Set(),
    unrecovered: new Set(),
    keptWork: new Map(
      runs.flatMap(({ runId, recovery }) =>
        recovery?.reason === undefined ? [] : [[runId, recovery.reason] as const],
      ),
    ),
    goneWorktrees: new Set(),
  };
  const outcomes: CleanOutcome[] = [];
  const settle = Effect.fnUntraced(function* (leftovers: readonly Leftover[]) {
    for (const leftover of leftovers) {
      const outcome = yield* carryOut(leftover, options.remove);
      if (outcome.outcome === "failed") {
        if (outcome.what === "sandbox") for (const runId of outcome.runIds) scope.unsettled.add(runId);
        scope.goneWorktrees.delete(outcome.name);
      }
      outcomes.push(outcome);
    }
  });
  if (options.remove) yield* forgetUnusable(repository, runs);
  yield* settle(findProcesses(scope));
  yield* settle(yield* findSandboxes(scope));
  yield* settle(yield* findSnapshots(scope));
  // A completed merge makes its branch superfluous. Imports come later, because they move branches and indexes.
  yield* settle(yield* findMerges(scope));
  outcomes.push(...(yield* rescueWork(scope, options.remove)));
  yield* settle(yield* findWorktrees(scope));
  yield* settle(findUnfinishedRemovals(scope));
  yield* settle(yield* findBranches(scope));
  yield* settle(yield* findFiles(scope));
  const keepsFiles = staying(outcomes.filter(({ what }) => what === "files"));
  yield* settle(yield* findRefs(scope, keepsFiles));
  yield* settle(findUnknownOverlays(scope));
  yield* settle(findSharedCheckouts(scope));
  yield* settle(yield* findKeptSetups(scope));
  yield* settle(findLocks(scope));
  if (options.runs.length === 0 && options.branches.length === 0) {
    const ofNoRepository = yield* findDeadDirectoryLeftovers;
    yield* settle(ofNoRepository);
    const known = new Set(ofNoRepository.flatMap(({ runIds }) => runIds));
    yield* settle(yield* findUnlistedSandboxes(repository, known));
  }
  const keepsSomething = staying(outcomes);
  const wantsRecords = options.records || options.runs.length > 0;
  if (wantsRecords) yield* settle(yield* findRecords(scope, keepsSomething));
  else if (options.remove) {
    for (const run of scope.selected) {
      if (run.state === "dead" && !run.isCleaned && !keepsSomething.has(run.runId)) {
        amendJournal(run.runDirectory, { type: "cleaned" });
      }
    }
  }
  return outcomes;
});

/** Cleans up after dead processes that used no repository. */
export const cleanUpOutsideRepositories = ({
  remove,
  signal,
}: Pick<CleanOptions, "remove" | "signal">): Promise<CleanOutcome[]> =>
  runAtBoundary(
    Effect.flatMap(findDeadDirectoryLeftovers, (leftovers) =>
      Effect.forEach(leftovers, (leftover) => carryOut(leftover, remove)),
    ),
    signal,
  );

/** Removes what runs have left, as far as no work is lost, and reports what stays and why. */
export const cleanUp = (repository: Repository, options: CleanOptions): Promise<CleanOutcome[]> =>
  runAtBoundary(
    Effect.scoped(
      // Without a locks directory nothing ever ran here: do not create one.
      options.remove && existsSync(locksDirectory(repository))
        ? Effect.andThen(lockCleaning(repository), clean(repository, options))
        : clean(repository, options),
    ),
    options.signal,
  );
