import * as Effect from "effect/Effect";
import { runAtBoundary } from "../../boundary/boundary.ts";
import { RunStillRunningError } from "../../errors/commandErrors.ts";
import { MergeInterruptedError, type SandduneError } from "../../errors.ts";
import { lockMerges } from "../../git/locks/locks.ts";
import { settleEarlierMerge } from "../../git/merge/earlierMerge.ts";
import { findNotes } from "../../git/merge/mergeNote.ts";
import type { Repository } from "../../git/repository.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";
import { lockRun } from "./recoverLocation.ts";
import { type RecoverOptions, recoverRun } from "./recoverRun.ts";
import type { Recovery } from "./recovery.ts";
import { forgetUnusable } from "./unfinishedWorktrees.ts";

/** All sessions that share a worktree or a sandbox with a run: the work may belong to any of them. */
const familyOf = (runs: readonly StoredRun[], run: StoredRun): StoredRun[] => {
  const outer = runs.find(({ runId }) => runId === run.within);
  return outer === undefined ? [run, ...runsWithin(runs, run)] : familyOf(runs, outer);
};

/** Settles interrupted merges. A checkout that the user has changed since is left as it is. */
const settleMergesOf = Effect.fnUntraced(function* (
  repository: Repository,
  runIds: ReadonlySet<string>,
): Effect.fn.Return<{ readonly told: readonly string[]; readonly kept: readonly string[] }, SandduneError> {
  const told: string[] = [];
  const kept: string[] = [];
  for (const note of findNotes(repository).filter(({ runId }) => runIds.has(runId))) {
    const { runId, checkoutPath, sourceBranch, targetBranch = "HEAD" } = note;
    const settling = settleEarlierMerge(repository, checkoutPath, { sourceBranch, targetBranch });
    yield* Effect.scoped(Effect.andThen(lockMerges(repository, runId), settling)).pipe(
      Effect.map((earlier) => told.push(...(earlier === undefined ? [] : [earlier.sentence]))),
      Effect.catchIf(
        (error) => error instanceof MergeInterruptedError,
        ({ message }) => Effect.sync(() => kept.push(message)),
      ),
    );
  }
  return { told, kept };
});

const recoverFamily = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  run: StoredRun,
  options: RecoverOptions,
): Effect.fn.Return<Recovery, SandduneError> {
  const family = familyOf(runs, run);
  const running = family.find(({ state }) => state === "running");
  if (running !== undefined) return yield* Effect.fail(new RunStillRunningError(running.runId));
  yield* forgetUnusable(repository, runs);
  const recoveries = yield* Effect.scoped(
    lockRun(repository, run).pipe(
      Effect.andThen(Effect.forEach(family, (member) => recoverRun(repository, runs, member, options))),
    ),
  );
  const merges = yield* settleMergesOf(repository, new Set(family.map(({ runId }) => runId)));
  const kept = [...recoveries.flatMap((recovery) => recovery.kept ?? []), ...merges.kept];
  return {
    runId: run.runId,
    branch: run.branch,
    told: [...recoveries.flatMap(({ told }) => told), ...merges.told],
    commits: recoveries.reduce((sum, { commits }) => sum + commits, 0),
    kept: kept.length === 0 ? undefined : kept.join("\n"),
  };
});

/**
 * Rescues the work of a run that could not clean up: ends its sandbox, imports the commits, disarms the repositories that
 * the agent created, and settles an interrupted merge. Throws if the run, or perhaps its sandbox, is still running.
 */
export const rescueRun = (
  repository: Repository,
  runs: readonly StoredRun[],
  run: StoredRun,
  { signal, ...options }: RecoverOptions & { readonly signal?: AbortSignal } = {},
): Promise<Recovery> => runAtBoundary(recoverFamily(repository, runs, run, options), signal);
