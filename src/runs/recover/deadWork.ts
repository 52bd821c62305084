import { dirname } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type RecoveredCommits, recoverCommits } from "../../git/recovery/recoverCommits.ts";
import { resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef } from "../../git/runRefs.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { worktreePathOf } from "../../git/worktrees/worktrees.ts";
import { isPlainDirectory } from "../../tools/files/entries.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import { runsWithin, type StoredRun } from "../storedRun.ts";

/** Where the agent of a dead run worked, and on what. */
export interface DeadWork {
  readonly run: StoredRun;
  readonly checkoutPath: string;
  readonly isUsersCheckout: boolean;
  readonly branch: string | undefined;
  /** The commit that the agent began with. */
  readonly base: string;
  /** The commits that the run and its child sessions imported. */
  readonly importedCommits: readonly string[];
  /** The git directory that its sandbox shared with the host; `undefined` if it does not exist. */
  readonly gitDirectory: string | undefined;
}

/** `undefined` if no agent worked for the run, or if nothing is left to find out where. */
export const findDeadWork = Effect.fnUntraced(function* (
  repository: Repository,
  runs: readonly StoredRun[],
  run: StoredRun,
): Effect.fn.Return<DeadWork | undefined, SandduneError> {
  const { work, runId, runDirectory, strategy } = run;
  const gitPath = sandboxDirectories(runFilesDirectory(runDirectory)).git;
  const gitDirectory = isPlainDirectory(gitPath) ? gitPath : undefined;
  if (work === undefined && gitDirectory === undefined) return undefined;
  const base = work?.tip ?? (yield* resolveCommit(repository.topLevel, baseRef(runId)));
  if (base === undefined) return undefined;
  const isUsersCheckout = strategy === "head";
  const branch = work === undefined ? run.branch : work.branch;
  const mainCheckout = dirname(repository.configDirectory);
  return {
    run,
    // The repository may have moved since the run.
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

/** Imports the commits from the sandbox git directory; `undefined` if that does not exist. */
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
        // An agent may rewrite a branch that was created for it, but not the user's own.
        allowsRewrite: !isUsersCheckout,
        filesDirectory: runFilesDirectory(run.runDirectory),
      });
