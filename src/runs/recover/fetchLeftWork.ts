import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { baseRef, uncommittedRef } from "../../git/runRefs.ts";
import { archiveSandboxFiles } from "../../git/transfer/export/archiveSandboxFiles.ts";
import { exportFromSandbox } from "../../git/transfer/export/exportFromSandbox.ts";
import type { SandboxExport } from "../../git/transfer/export/fetchBundles.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { syncIndex } from "../../git/worktrees/syncIndex.ts";
import {
  moveWorktreeFiles,
  openWorktreeFiles,
  type WorktreeFiles,
} from "../../git/worktrees/worktreeFiles.ts";
import { listWorktrees } from "../../git/worktrees/worktreeList.ts";
import { worktreePathOf } from "../../git/worktrees/worktrees.ts";
import type { IsolatedSandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import type { StoredRun } from "../storedRun.ts";
import { landFetched } from "./landFetched.ts";

const EXPORT_TIMEOUT_MS = 10 * 60_000;

/** Work that was imported from a sandbox after its run had ended. */
export interface FetchedWork {
  /** The tip of the branch before and after; `undefined` if the branch does not exist. */
  readonly before: string | undefined;
  readonly tip: string | undefined;
  /** A commit of the uncommitted changes, kept by a ref of the run. */
  readonly uncommitted: string | undefined;
  readonly warnings: readonly string[];
}

/** A run that died early may not have copied its repository into the sandbox: then no agent worked there. */
const hasRepository = (handle: IsolatedSandboxHandle): Effect.Effect<boolean, SandduneError> =>
  interruptible((signal) =>
    handle.exec(`[ -e ${shellQuote(`${handle.worktreePath}/.git`)} ]`, { cwd: "/", signal }),
  ).pipe(Effect.map(({ exitCode }) => exitCode === 0));

const hostTips = (cwd: string): Effect.Effect<string[], SandduneError> =>
  gitText(["for-each-ref", "--format=%(objectname)", "refs/heads"], { cwd }).pipe(
    Effect.map((output) => output.split("\n").filter((sha) => sha !== "")),
  );

/** The files of the run's worktree, which follow the import; `undefined` if the worktree is gone. */
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

/** Archives all files if git could not export everything: the sandbox is removed afterwards. */
const keepUnexported = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  runDirectory: string,
  { leftBehind, hasUnreadRefs }: SandboxExport,
): Effect.fn.Return<string[], SandduneError> {
  if (leftBehind.length === 0 && !hasUnreadRefs) return [];
  const firstPath = join(runDirectory, "rescue.tar");
  const archivePath = existsSync(firstPath) ? join(runDirectory, `rescue-${Date.now()}.tar`) : firstPath;
  const what = [...leftBehind, ...(hasUnreadRefs ? ["refs that could not be read"] : [])].join(", ");
  if (yield* archiveSandboxFiles(sandbox, archivePath)) {
    return [`Git could not export ${what}. The files of the sandbox are kept in ${archivePath}.`];
  }
  return yield* Effect.fail(new ImportRefusedError(`git could not export ${what}`, undefined));
});

/**
 * Imports the work from an isolated sandbox whose run has ended, by the same steps as the run itself: the branch moves, the
 * worktree follows, and refs of the run keep commits that are on no branch. The caller holds the lock of the branch.
 * `undefined` if there is nothing to import.
 */
export const fetchLeftWork = Effect.fnUntraced(function* (
  repository: Repository,
  run: StoredRun,
  handle: IsolatedSandboxHandle,
): Effect.fn.Return<FetchedWork | undefined, SandduneError> {
  const { runId, runDirectory, branch } = run;
  const cwd = repository.topLevel;
  // An isolated sandbox always works on a branch.
  if (branch === undefined || !(yield* hasRepository(handle))) return undefined;
  const before = yield* resolveCommit(cwd, branchRef(branch));
  const base = run.work?.tip ?? (yield* resolveCommit(cwd, baseRef(runId))) ?? before;
  if (base === undefined) {
    const problem = `neither the branch ${branch} nor the commit that the run began with exists any more`;
    return yield* Effect.fail(new ImportRefusedError(problem, undefined));
  }
  const directory = runFilesDirectory(runDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files =
    before && (yield* worktreeFilesOf(repository, branch, before, join(directory, "files-index")));
  const sandbox = { handle, gitDirectory: `${handle.worktreePath}/.git`, hostGitDirectory: undefined };
  const exported = yield* exportFromSandbox(
    sandbox,
    {
      sourceBranch: branch,
      knownCommits: [...new Set([base, ...(yield* hostTips(cwd))])],
      breaksLocks: true,
      timeoutMs: EXPORT_TIMEOUT_MS,
    },
    join(directory, "rescue.bundle"),
  );
  const unexported = yield* keepUnexported(sandbox, runDirectory, exported);
  const place = { branch, base, ...(before !== undefined && { before }) };
  const { tip, uncommitted, warnings, isMoved } = yield* landFetched(cwd, run, place, exported);
  const problems: (string | undefined)[] = [];
  if (files && isMoved && tip !== undefined) {
    const { worktreePath: checkoutPath, gitDirectory } = files;
    problems.push(
      yield* syncIndex({ checkoutPath, gitDirectory, branch, from: before, to: tip }),
      yield* moveWorktreeFiles(files, uncommitted ?? tip),
    );
  } else if (uncommitted !== undefined) {
    problems.push(`Uncommitted work of run ${runId} is kept as ${uncommittedRef(runId)}.`);
  }
  if (exported.bundlePath !== undefined) rmSync(exported.bundlePath, { force: true });
  const told = problems.filter((problem) => problem !== undefined);
  return { before, tip, uncommitted, warnings: [...unexported, ...warnings, ...told] };
});
