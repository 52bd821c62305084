import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import {
  BranchInUseError,
  InvalidBranchNameError,
  NoSuchBranchError,
  type SandduneError,
} from "../../errors.ts";
import { configDirectoryPart, ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { HostState } from "../hostState.ts";
import { lockWorktrees } from "../locks/locks.ts";
import { branchRef, isGitError, resolveCommit, sessionReason, updateRefs } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { baseRef } from "../runRefs.ts";
import { addWorktree, gitMustAddWorktrees } from "./addWorktree.ts";
import { reattach } from "./reattach.ts";
import { removeWorktreeFiles } from "./removeWorktree.ts";
import { listWorktrees } from "./worktreeList.ts";
import { lockReason, lockWorktree } from "./worktreeLock.ts";
import { isDirty } from "./worktreeStatus.ts";

/** A checkout of the source branch below `.sanddune/worktrees/`. */
export interface GitWorktree {
  readonly path: string;
  /** Its own git directory, below the repository's. */
  readonly gitDirectory: string;
  readonly branch: string;
  /** Its commit at the start of this run. */
  readonly baseSha: string;
  /** An earlier run has created it. */
  readonly isReused: boolean;
  /** The branch was made for this run. */
  readonly isNewBranch: boolean;
}

/** A source branch before anything is created. */
export interface SourceBranch {
  readonly branch: string;
  /** Its tip, or its starting point if it does not exist yet. */
  readonly sha: string;
  readonly exists: boolean;
  /** Git has a worktree registered at its path, even if the directory is missing. */
  readonly isRegistered: boolean;
  /** Only git can add a worktree of it: it has to check the branch, or the repository is an unusual one. */
  readonly needsGitToAdd: boolean;
}

/** One for each branch. The readable part is not unique (`a/b` and `a-b`, or the case); the hash is. */
export const worktreeDirectoryName = (branch: string): string => {
  const readable = branch
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .slice(0, 40)
    .replace(/^[-.]+|[-.]+$/g, "");
  const hash = createHash("sha256").update(branch).digest("hex").slice(0, 10);
  return readable === "" ? hash : `${readable}-${hash}`;
};

export const worktreePathOf = (repository: Repository, branch: string): string =>
  join(configDirectoryPart(repository.configDirectory, "worktrees"), worktreeDirectoryName(branch));

/** Git writes a relative path if the user wants that. An interrupted git may have left an empty file: `""`. */
const readGitDirectory = (worktreePath: string): string => {
  const written = readFileSync(join(worktreePath, ".git"), "utf8")
    .replace(/^gitdir: /, "")
    .trimEnd();
  return written === "" ? "" : resolve(worktreePath, written);
};

/** Re-attaches the worktree of a branch if the repository was moved. */
export const reattachIfMoved = (
  repository: Repository,
  path: string,
  branch: string,
): Effect.Effect<unknown, SandduneError> => {
  if (!existsSync(join(path, ".git"))) return Effect.void;
  const gitDirectory = readGitDirectory(path);
  return gitDirectory === "" || gitDirectory.startsWith(`${repository.commonDirectory}/`)
    ? Effect.void
    : reattach(repository, { path, gitDirectory, branch });
};

/** Checks that the branch's starting point exists, and that no other checkout has the branch. */
export const inspectSourceBranch = Effect.fnUntraced(function* (
  repository: Repository,
  host: HostState,
  branch: string,
  from: string,
): Effect.fn.Return<SourceBranch, SandduneError> {
  const path = worktreePathOf(repository, branch);
  const isElsewhere = host.worktrees.some((worktree) => worktree.branch === branch && worktree.path !== path);
  const existing = host.refs.find(({ name }) => name === branchRef(branch))?.sha;
  const isUnlisted =
    existsSync(join(path, ".git")) && !host.worktrees.some((worktree) => worktree.path === path);
  if (isUnlisted && existing !== undefined) yield* reattachIfMoved(repository, path, branch);
  // The list of `host` is from before the worktree was re-attached.
  const worktrees = isUnlisted || isElsewhere ? yield* listWorktrees(repository.topLevel) : host.worktrees;
  const sha = existing ?? (from === host.head.sha ? from : yield* resolveCommit(repository.topLevel, from));
  if (sha === undefined) return yield* Effect.fail(new NoSuchBranchError(from));
  const holder = worktrees.find((worktree) => worktree.branch === branch);
  if (holder !== undefined && holder.path !== path) {
    return yield* Effect.fail(
      new BranchInUseError(
        branch,
        `the checkout at ${holder.path}`,
        "Use another branch, or the `head` strategy to work in that checkout.",
      ),
    );
  }
  const squatter = worktrees.find((worktree) => worktree.path === path && worktree.branch !== branch);
  if (squatter !== undefined && existsSync(join(path, ".git"))) {
    return yield* Effect.fail(
      new BranchInUseError(
        branch,
        `the worktree at ${path}, which is on ${squatter.branch ?? "a detached HEAD"}`,
        `Put what it holds on a branch if you want to keep it, then: git -C ${shellQuote(path)} switch ${shellQuote(branch)}`,
      ),
    );
  }
  return {
    branch,
    sha,
    exists: existing !== undefined,
    isRegistered: worktrees.some((worktree) => worktree.path === path),
    // The user may be rebasing an existing branch, or check it out at any moment: git looks again.
    needsGitToAdd: existing !== undefined || gitMustAddWorktrees(host.config),
  };
});

/** Creates the branch, or checks that it has not moved, and keeps the run's first commit by a ref. */
const claimBranch = (cwd: string, runId: string, { branch, sha, exists }: SourceBranch) =>
  updateRefs(
    cwd,
    [
      { ref: baseRef(runId), to: sha },
      { ref: branchRef(branch), to: sha, from: exists ? sha : "absent" },
    ],
    sessionReason(runId),
  ).pipe(
    Effect.mapError((error) => {
      if (!isGitError(error)) return error;
      return /exists; cannot create/.test(error.stderr)
        ? new InvalidBranchNameError(
            branch,
            "it conflicts with another branch: git cannot have both `a` and `a/b`",
          )
        : new BranchInUseError(branch, "a process that has just moved it", "Run again.");
    }),
  );

/** A commit can hold a link at the path: the files would be written to the place that it leads to. */
const isInTheWay = (path: string): boolean => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status !== undefined && (!status.isDirectory() || readdirSync(path).length > 0);
};

/**
 * Creates the worktree of a branch, or reuses the one of an earlier run. Other runs wait until the scope is closed.
 * `announce` is called before anything is created. A new worktree that is to be empty has no files and no index.
 */
export const openWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  source: SourceBranch,
  runId: string,
  announce: (worktree: Pick<GitWorktree, "isReused">) => void,
  { isEmpty = false } = {},
): Effect.fn.Return<GitWorktree, SandduneError, Scope.Scope> {
  yield* Effect.interruptible(lockWorktrees(repository));
  const { branch, sha, exists } = source;
  const path = worktreePathOf(repository, branch);
  const isReused = source.isRegistered && existsSync(join(path, ".git"));
  ensureConfigDirectoryPart(repository.configDirectory, "worktrees");
  if (!isReused && isInTheWay(path)) {
    return yield* Effect.fail(
      new BranchInUseError(
        branch,
        `what is at ${path}, which git does not know as a worktree`,
        `Look at it, then remove it: rm -r ${shellQuote(path)}`,
      ),
    );
  }
  announce({ isReused });
  yield* claimBranch(repository.topLevel, runId, source);
  if (!isReused) {
    yield* addWorktree(repository, { ...source, path, lockReason: lockReason(runId), isEmpty }).pipe(
      Effect.onError(() => (exists ? Effect.void : deleteBranch(repository, branch, sha))),
    );
  }
  if (isReused) yield* lockWorktree(repository, path, runId);
  return { path, gitDirectory: readGitDirectory(path), branch, baseSha: sha, isReused, isNewBranch: !exists };
});

/** The result of removing a worktree. */
export interface WorktreeRemoval {
  readonly isRemoved: boolean;
  /** The directory of the files that could not be deleted. */
  readonly undeletable?: string | undefined;
}

const removeByForce = (repository: Repository, path: string): Effect.Effect<WorktreeRemoval, SandduneError> =>
  interruptible(() => removeWorktreeFiles(repository, path)).pipe(
    Effect.map((undeletable) => ({ isRemoved: true, undeletable })),
  );

/** Removes the worktree unless it holds uncommitted work. */
export const removeWorktreeIfClean = Effect.fnUntraced(function* (
  repository: Repository,
  path: string,
): Effect.fn.Return<WorktreeRemoval, SandduneError, Scope.Scope> {
  yield* lockWorktrees(repository);
  if (yield* isDirty(path)) return { isRemoved: false };
  return yield* removeByForce(repository, path);
});

/** Removes a worktree with everything in it, or unregisters one whose directory is missing. */
export const discardWorktree = (
  repository: Repository,
  path: string,
): Effect.Effect<WorktreeRemoval, SandduneError, Scope.Scope> =>
  lockWorktrees(repository).pipe(Effect.andThen(removeByForce(repository, path)));

/** Unregisters a worktree whose directory is missing. */
export const forgetWorktree = (repository: Repository, path: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(discardWorktree(repository, path)));

/** Deletes a branch unless it has moved. Resolves with whether it was deleted. */
export const deleteBranch = (
  repository: Repository,
  branch: string,
  expectedSha: string,
): Effect.Effect<boolean> =>
  updateRefs(repository.topLevel, [{ ref: branchRef(branch), to: undefined, from: expectedSha }]).pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
  );
