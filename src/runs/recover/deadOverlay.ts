import { rmdirSync } from "node:fs";
import * as Effect from "effect/Effect";
import { OverlayKeptError, type SandduneError } from "../../errors.ts";
import { openEmptyWorktree } from "../../git/overlay/openEmptyWorktree.ts";
import { discardOverlay, type OverlayCheckout, overlayCopyIn } from "../../git/overlay/overlayCheckout.ts";
import { overlayDirectoryOf } from "../../git/overlay/overlayRun.ts";
import { readOverlay } from "../../git/overlay/readOverlay.ts";
import { isWrittenOut, writeOutOverlay } from "../../git/overlay/writeOut.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { syncIndex } from "../../git/worktrees/syncIndex.ts";
import { worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { sandduneWords } from "../../process/ownCommand/sandduneCommand.ts";
import { isPlainDirectory } from "../../tools/files/entries.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import type { StoredRun } from "../storedRun.ts";

/** Whether the files of a run that has ended are still in its overlay. */
export const hasOverlay = (
  repository: Pick<Repository, "commonDirectory">,
  { runId }: Pick<StoredRun, "runId">,
): boolean => isPlainDirectory(overlayDirectoryOf(repository, runId));

const undeletableSentences = (path: string | undefined): string[] =>
  path === undefined ? [] : [`Files that are not needed any more could not be deleted. They are in ${path}.`];

/** The next commands, if the overlay can be written to no worktree. */
const nextSteps = (runId: string, branch: string, commit: string, isGone: boolean) => [
  ...(isGone ? [["git", "branch", branch, commit]] : []),
  sandduneWords("rescue", runId),
];

/** Writes the overlay to the worktree of its branch, and makes the index match the branch. Resolves with sentences. */
const writeTo = Effect.fnUntraced(function* (
  repository: Repository,
  overlay: OverlayCheckout,
  { runId, branch, runDirectory }: { runId: string; branch: string; runDirectory: string },
): Effect.fn.Return<string[], SandduneError> {
  const tip = yield* resolveCommit(repository.topLevel, branchRef(branch));
  const worktree = yield* openEmptyWorktree(repository, branch, runId);
  if (typeof worktree === "string") {
    const commands = nextSteps(runId, branch, overlay.commit, tip === undefined);
    return yield* Effect.fail(new OverlayKeptError(runId, overlay.directory, branch, worktree, commands));
  }
  const { path, gitDirectory } = worktree;
  // The user may have deleted them.
  for (const part of ["worktrees", "runs"] as const)
    ensureConfigDirectoryPart(repository.configDirectory, part);
  const undeletable = yield* writeOutOverlay(overlay, worktree);
  // Made for the copy, if the user had deleted them.
  for (const made of [runFilesDirectory(runDirectory), runDirectory]) orUndefined(() => rmdirSync(made));
  const index = { checkoutPath: path, gitDirectory, branch, from: overlay.commit };
  const problem = tip && (yield* syncIndex({ ...index, to: tip }));
  return [
    `Wrote the files of run ${runId} to ${path}.`,
    ...undeletableSentences(undeletable),
    ...(problem ? [problem] : []),
  ];
});

/**
 * Writes the files of a dead run from its overlay to its worktree, as the run would have done. The caller holds the lock of the
 * run's branch, and nothing runs in the sandbox any more. Resolves with sentences.
 */
export const writeOutDeadOverlay = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
): Effect.fn.Return<string[], SandduneError> {
  const { runId, runDirectory, branch } = run;
  if (branch === undefined || !hasOverlay(repository, run)) return [];
  const directory = overlayDirectoryOf(repository, runId);
  const copyPath = overlayCopyIn(runFilesDirectory(runDirectory));
  const discard = discardOverlay(directory).pipe(Effect.map(undeletableSentences));
  if (isWrittenOut({ directory }, worktreePathOf(repository, branch))) return yield* discard;
  const start = (yield* resolveCommit(repository.topLevel, baseRef(runId))) ?? run.work?.tip;
  const overlay = yield* readOverlay(repository, { directory, copyPath }, start);
  if (overlay === undefined) return yield* discard;
  return yield* writeTo(repository, overlay, { runId, branch, runDirectory });
});
