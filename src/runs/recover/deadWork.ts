import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type RecoveredCommits, recoverCommits } from "../../git/recovery/recoverCommits.ts";
import { resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";

/** Where the agent of a run worked whose process is gone. */
export interface DeadWork {
  readonly run: StoredRun;
  readonly checkoutPath: string;
  readonly isUsersCheckout: boolean;
  readonly branch: string | undefined;
  /** The commit that the agent began with. */
  readonly base: string;
  /** What the run, and those in its sandbox, have imported. */
  readonly importedCommits: readonly string[];
  /** The git directory that its sandbox shared with the host; `undefined` if there is none, or none any more. */
  readonly gitDirectory: string | undefined;
}

const isDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** `undefined` if no agent has worked for the run, or none that sanddune could find the traces of. */
export const findDeadWork = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  run: StoredRun,
): Effect.fn.Return<DeadWork | undefined, SandduneError> {
  const { work, runId, runDirectory, strategy } = run;
  const gitPath = sandboxDirectories(runFilesDirectory(runDirectory)).git;
  const gitDirectory = isDirectory(gitPath) ? gitPath : undefined;
  if (work === undefined && gitDirectory === undefined) return undefined;
  const base = work?.tip ?? (yield* resolveCommit(repository.topLevel, baseRef(runId)));
  if (base === undefined) return undefined;
  const isUsersCheckout = strategy === "head";
  const branch = work === undefined ? run.branch : work.branch;
  const mainCheckout = dirname(repository.configDirectory);
  return {
    run,
    // Wherever the repository was when the run began.
    checkoutPath:
      isUsersCheckout || branch === undefined
        ? (work?.checkoutPath ?? mainCheckout)
        : worktreePathOf(repository, branch),
    isUsersCheckout,
    branch,
    base,
    importedCommits: [run, ...runsWithin(runs, run)].flatMap(({ commits }) => commits),
    gitDirectory,
  };
});

/** Imports what was committed in the sandbox; `undefined` if there is nothing that it could be imported from. */
export const importDeadWork = (
  repository: Repository,
  { run, checkoutPath, isUsersCheckout, branch, base, importedCommits, gitDirectory }: DeadWork,
): Effect.Effect<RecoveredCommits | undefined, SandduneError> =>
  gitDirectory === undefined
    ? Effect.succeed(undefined)
    : recoverCommits({
        repository,
        path: gitDirectory,
        runId: run.runId,
        checkoutPath,
        branch,
        base,
        importedCommits,
        // The user's own branch is not the agent's to rewrite; a branch that was made for agents is.
        allowsRewrite: !isUsersCheckout,
        filesDirectory: runFilesDirectory(run.runDirectory),
      });
