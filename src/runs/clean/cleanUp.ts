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
import { forgetUnusable } from "../recover/unfinishedWorktrees.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";
import { findBranches } from "./branches.ts";
import { findDeadDirectoryLeftovers } from "./deadDirectories.ts";
import { findFiles } from "./files.ts";
import type { CleanScope, Leftover } from "./leftover.ts";
import { findLocks } from "./locks.ts";
import { findMerges } from "./merges.ts";
import { findProcesses } from "./processes.ts";
import { findRecords } from "./records.ts";
import { findRefs } from "./refs.ts";
import { findSandboxes } from "./sandboxes.ts";
import { findUnlistedSandboxes } from "./unlistedSandboxes.ts";
import { rescueWork } from "./work.ts";
import { findUnfinishedRemovals, findWorktrees } from "./worktrees.ts";

export interface CleanOptions {
  /** Remove things, rather than saying what would be removed. */
  readonly remove: boolean;
  /** Runs of which everything goes, uncommitted changes and the record included, but for a branch with their commits. */
  readonly runs: readonly string[];
  /** Branches whose worktree goes with all that is in it and, if a run has made them, the branches themselves. */
  readonly branches: readonly string[];
  /** Journals and run logs of runs of which nothing else is left go, too. */
  readonly records: boolean;
  readonly signal?: AbortSignal;
  /** Called for each run that is left alone because its journal cannot be read. */
  readonly onUnreadable?: (runDirectory: string) => void;
}

/** What became of a leftover. */
export type CleanOutcome = Omit<Leftover, "remove"> & {
  readonly outcome: "removed" | "wouldBeRemoved" | "rescued" | "wouldBeRescued" | "kept" | "failed";
  /** What was done about work, in sentences. */
  readonly notes?: readonly string[];
  /** Why it could not be removed. */
  readonly problem?: string;
};

const runsOn = (runs: readonly StoredRun[], branch: string): StoredRun[] => {
  const found = runs.filter((run) => run.branch === branch);
  if (found.length === 0) throw new NoRunOnBranchError(branch);
  return found;
};

/** Throws if what was named is running. */
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
 * One kind after the other: what still works in a worktree goes before the work in it is rescued, that before the worktree
 * is looked at, and a worktree before its branch.
 */
const clean = Effect.fnUntraced(function* (
  repository: Repository,
  options: CleanOptions,
): Effect.fn.Return<CleanOutcome[], SandduneError> {
  const runs = listRuns(repository, options.onUnreadable);
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
  // What is completed makes a branch superfluous. Before commits are imported: that moves branches and indexes.
  yield* settle(yield* findMerges(scope));
  outcomes.push(...(yield* rescueWork(scope, options.remove)));
  yield* settle(yield* findWorktrees(scope));
  yield* settle(findUnfinishedRemovals(scope));
  yield* settle(yield* findBranches(scope));
  yield* settle(yield* findFiles(scope));
  const keepsFiles = staying(outcomes.filter(({ what }) => what === "files"));
  yield* settle(yield* findRefs(scope, keepsFiles));
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

/** Removes what dead processes have left that worked for no repository. */
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

/** Removes what runs have left behind, as far as nothing is lost by it, and tells what stays and why. */
export const cleanUp = (repository: Repository, options: CleanOptions): Promise<CleanOutcome[]> =>
  runAtBoundary(
    Effect.scoped(
      // Where nothing was ever locked, nothing ran, and nothing is to be made.
      options.remove && existsSync(locksDirectory(repository))
        ? Effect.andThen(lockCleaning(repository), clean(repository, options))
        : clean(repository, options),
    ),
    options.signal,
  );
