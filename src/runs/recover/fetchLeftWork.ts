import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { runFilesDirectory } from "../../engine/journal.ts";
import type { SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { syncIndex } from "../../git/syncIndex.ts";
import { exportFromSandbox } from "../../git/transfer/exportFromSandbox.ts";
import { importCommits } from "../../git/transfer/importCommits.ts";
import { moveWorktreeFiles, openWorktreeFiles, type WorktreeFiles } from "../../git/worktreeFiles.ts";
import { listWorktrees } from "../../git/worktreeList.ts";
import { worktreePathOf } from "../../git/worktrees.ts";
import { interruptible } from "../../process/interruptible.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import type { IsolatedSandboxHandle } from "../../sandboxes/contract.ts";
import type { RunRecord } from "../runRecord.ts";

const EXPORT_TIMEOUT_MS = 10 * 60_000;

/** What was fetched from a sandbox that a run could not fetch it from. */
export interface FetchedWork {
  /** Where the branch was before, and where it is now. */
  readonly before: string;
  readonly tip: string;
  /** A commit with what was not committed; it is held by a ref of the run. */
  readonly uncommitted: string | undefined;
  readonly warnings: readonly string[];
}

const asError = (reason: unknown): SandduneError => reason as SandduneError;

/** A run that died early may not have brought its repository into the sandbox yet: then no agent worked there. */
const hasRepository = (handle: IsolatedSandboxHandle): Effect.Effect<boolean, SandduneError> =>
  interruptible(
    (signal) => handle.exec(`[ -e ${shellQuote(`${handle.worktreePath}/.git`)} ]`, { cwd: "/", signal }),
    asError,
  ).pipe(Effect.map(({ exitCode }) => exitCode === 0));

const hostTips = (cwd: string): Effect.Effect<string[], SandduneError> =>
  gitText(["for-each-ref", "--format=%(objectname)", "refs/heads"], { cwd }).pipe(
    Effect.map((output) => output.split("\n").filter((sha) => sha !== "")),
  );

/** The files of the run's worktree, which follow what is imported; `undefined` if it is gone. */
const worktreeFilesOf = Effect.fnUntraced(function* (
  repository: Repository,
  branch: string,
  baseSha: string,
  indexPath: string,
): Effect.fn.Return<(WorktreeFiles & { readonly gitDirectory: string }) | undefined, SandduneError> {
  const path = worktreePathOf(repository, branch);
  const isThere = (yield* listWorktrees(repository.topLevel)).some((worktree) => worktree.path === path);
  if (!isThere || !existsSync(join(path, ".git"))) return undefined;
  const gitDirectory = yield* gitText(["rev-parse", "--absolute-git-dir"], { cwd: path });
  return { ...(yield* openWorktreeFiles({ path, gitDirectory, baseSha }, indexPath)), gitDirectory };
});

/**
 * Imports what an isolated sandbox holds whose run is over, by the same steps as the run itself would have: the branch moves,
 * the worktree follows, and what is on no branch gets refs of the run. The caller holds the lock of the branch.
 * `undefined` if there is nothing to fetch.
 */
export const fetchLeftWork = Effect.fnUntraced(function* (
  repository: Repository,
  { runId, runDirectory, branch }: RunRecord,
  handle: IsolatedSandboxHandle,
): Effect.fn.Return<FetchedWork | undefined, SandduneError> {
  const cwd = repository.topLevel;
  const before = branch === undefined ? undefined : yield* resolveCommit(cwd, branchRef(branch));
  if (branch === undefined || before === undefined || !(yield* hasRepository(handle))) return undefined;
  const directory = runFilesDirectory(runDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = yield* worktreeFilesOf(repository, branch, before, join(directory, "files-index"));
  const exported = yield* exportFromSandbox(
    { handle, gitDirectory: `${handle.worktreePath}/.git`, hostGitDirectory: undefined },
    {
      sourceBranch: branch,
      knownCommits: [...new Set([before, ...(yield* hostTips(cwd))])],
      breaksLocks: true,
      timeoutMs: EXPORT_TIMEOUT_MS,
    },
    join(directory, "rescue.bundle"),
  );
  const target = { cwd, runId, branch, base: before, expectedTip: before, allowsRewrite: true };
  const { tip, uncommitted, warnings } = yield* importCommits(target, exported);
  const problems: (string | undefined)[] = [];
  if (files !== undefined) {
    const { worktreePath: checkoutPath, gitDirectory } = files;
    problems.push(
      yield* syncIndex({ checkoutPath, gitDirectory, branch, from: before, to: tip }),
      yield* moveWorktreeFiles(files, uncommitted ?? tip),
    );
  }
  if (exported.bundlePath !== undefined) rmSync(exported.bundlePath, { force: true });
  const told = problems.filter((problem) => problem !== undefined);
  return { before, tip, uncommitted, warnings: [...warnings, ...told] };
});
