import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { hasUnimportedCommits } from "../../git/recovery/unimportedCommits.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import { hasOverlay } from "../recover/deadOverlay.ts";
import { isUnrecovered, lockRun } from "../recover/recoverLocation.ts";
import { recoverRun } from "../recover/recoverRun.ts";
import { sentencesOf } from "../recover/recovery.ts";
import type { StoredRun } from "../storedRun.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** What was done, or would be done, about the commits of a dead run. */
export type RescuedWork = Omit<Leftover, "remove" | "what"> & {
  readonly what: "work";
  readonly outcome: "rescued" | "wouldBeRescued" | "kept";
  readonly notes: readonly string[];
};

const workOf = ({ runId }: StoredRun) =>
  ({ what: "work", name: `work of run ${runId}`, runIds: [runId], detail: "", notes: [] }) as const;

/** The preview: changes nothing. */
const preview = (scope: CleanScope, run: StoredRun): Effect.Effect<RescuedWork[]> => {
  const gitDirectory = sandboxDirectories(runFilesDirectory(run.runDirectory)).git;
  return hasUnimportedCommits(scope.repository, gitDirectory).pipe(
    Effect.catch(() => Effect.succeed(true)),
    Effect.map((hasCommits): RescuedWork[] => {
      const hasFiles = hasOverlay(scope.repository, run);
      if (!hasCommits && !hasFiles) return [];
      scope.unrecovered.add(run.runId);
      const kind = [hasCommits && "commits", hasFiles && "files"].filter(Boolean).join(" and ");
      const detail = run.branch === undefined ? kind : `${kind} for ${run.branch}`;
      return [{ ...workOf(run), detail, outcome: "wouldBeRescued" }];
    }),
  );
};

const rescue = (scope: CleanScope, run: StoredRun, leavesCommits: boolean): Effect.Effect<RescuedWork[]> => {
  const { repository, runs, unsettled, keptWork } = scope;
  return Effect.scoped(
    Effect.andThen(lockRun(repository, run), recoverRun(repository, runs, run, { leavesCommits })),
  ).pipe(
    Effect.map((recovery): RescuedWork[] => {
      if (recovery.kept !== undefined) keptWork.set(run.runId, recovery.kept);
      const notes = sentencesOf(recovery);
      return notes.length === 0 ? [] : [{ ...workOf(run), notes, outcome: "rescued" }];
    }),
    Effect.catch((error: SandduneError) => {
      unsettled.add(run.runId);
      return Effect.succeed<RescuedWork[]>([{ ...workOf(run), outcome: "kept", keptBecause: error.message }]);
    }),
  );
};

/**
 * Imports the commits that dead runs left in their sandboxes, and disarms the repositories that their agents created,
 * before anything is removed. Skips runs whose sandbox may still be running. Commits of runs that the user named are not
 * imported: they are to be removed.
 */
export const rescueWork = (scope: CleanScope, isWanted: boolean): Effect.Effect<RescuedWork[]> => {
  const isNamed = ({ runId, branch }: StoredRun) =>
    scope.namedRuns.has(runId) || (branch !== undefined && scope.namedBranches.has(branch));
  const candidates = scope.selected.filter(
    (run) =>
      (run.state === "dead" || hasOverlay(scope.repository, run)) &&
      isUnrecovered(scope.repository, run) &&
      !scope.unsettled.has(run.runId),
  );
  return Effect.forEach(candidates, (run) => {
    if (isWanted) return rescue(scope, run, isNamed(run));
    return isNamed(run) ? Effect.succeed([]) : preview(scope, run);
  }).pipe(Effect.map((found) => found.flat()));
};
