import { copyFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type GitOptions, git, gitText } from "../git.ts";
import { nulSeparated } from "../output.ts";
import { isGitFailure, reasonOf } from "../refs.ts";
import { SANDDUNE_IDENTITY } from "../sandboxDirectory/sandboxConfig.ts";
import type { GitWorktree } from "./worktrees.ts";

/**
 * The files of a worktree whose agent works in an isolated sandbox. They follow the sandbox's files, committed or not,
 * through an index of their own. The worktree's real index follows the commits only, so git shows the difference as
 * uncommitted changes.
 */
export interface WorktreeFiles {
  readonly worktreePath: string;
  readonly indexPath: string;
  /** A commit of the work that was uncommitted at the start of the run, if any. */
  readonly uncommitted: string | undefined;
  /** The commit that the files are at. */
  current: string;
}

/**
 * Adds every uncommitted file to the index, and returns whether there was any. `git add --all` would also enter nested
 * repositories, whose configuration an agent may have written.
 */
const addUncommitted = Effect.fnUntraced(function* (
  options: GitOptions,
): Effect.fn.Return<boolean, SandduneError> {
  const status = yield* git(
    ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"],
    { ...options, encoding: "latin1" },
  );
  const paths = nulSeparated(status.stdout)
    .filter((entry) => !entry.endsWith("/"))
    .map((entry) => `${entry.slice(3)}\0`);
  if (paths.length === 0) return false;
  const stdin = Buffer.from(paths.join(""), "latin1");
  yield* git(["update-index", "-z", "--add", "--remove", "--stdin"], { ...options, stdin });
  return true;
});

export const openWorktreeFiles = Effect.fnUntraced(function* (
  worktree: Pick<GitWorktree, "path" | "gitDirectory" | "baseSha">,
  indexPath: string,
): Effect.fn.Return<WorktreeFiles, SandduneError> {
  copyFileSync(join(worktree.gitDirectory, "index"), indexPath);
  const options = { cwd: worktree.path, env: { GIT_INDEX_FILE: indexPath, ...SANDDUNE_IDENTITY } };
  const files = { worktreePath: worktree.path, indexPath };
  // After `syncIndex` the index lacks the files' times and sizes: without a refresh git would refuse to replace them.
  yield* git(["update-index", "-q", "--refresh"], { ...options, expectedExitCodes: [1] });
  if (!(yield* addUncommitted(options))) {
    return { ...files, uncommitted: undefined, current: worktree.baseSha };
  }
  const tree = yield* gitText(["write-tree"], options);
  const uncommitted = yield* gitText(
    ["commit-tree", "-p", worktree.baseSha, "-m", "Uncommitted work", tree],
    options,
  );
  return { ...files, uncommitted, current: uncommitted };
});

/** The same files at another path, as a copy. Without a refresh git would refuse to replace them. */
export const copiedWorktreeFiles = Effect.fnUntraced(function* (
  files: WorktreeFiles,
  worktreePath: string,
  indexPath: string,
): Effect.fn.Return<WorktreeFiles, SandduneError> {
  copyFileSync(files.indexPath, indexPath);
  const env = { GIT_INDEX_FILE: indexPath };
  yield* git(["update-index", "-q", "--refresh"], { cwd: worktreePath, env, expectedExitCodes: [1] });
  return { worktreePath, indexPath, uncommitted: undefined, current: files.current };
});

/** Updates the files to `commit`. If others have changed any, it touches none and returns a sentence. */
export const moveWorktreeFiles = (
  files: WorktreeFiles,
  commit: string,
): Effect.Effect<string | undefined, SandduneError> =>
  git(["read-tree", "-m", "-u", files.current, commit], {
    cwd: files.worktreePath,
    env: { GIT_INDEX_FILE: files.indexPath },
  }).pipe(
    Effect.map(() => {
      files.current = commit;
      return undefined;
    }),
    Effect.catchIf(isGitFailure, (error) =>
      Effect.succeed(
        `The files of ${files.worktreePath} could not be updated to those of the sandbox, which are kept as ${commit} (${reasonOf(error)}).`,
      ),
    ),
  );
