import { copyFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git, gitText } from "./git.ts";
import { isGitError } from "./refs.ts";
import { isDirty } from "./worktreeStatus.ts";
import type { Worktree } from "./worktrees.ts";

/**
 * The files of a worktree whose agent works elsewhere, in an isolated sandbox. They follow what the sandbox has,
 * committed or not, by an index of their own; the worktree's real index follows the commits only, so that git shows
 * the difference as uncommitted changes.
 */
export interface WorktreeFiles {
  readonly worktreePath: string;
  readonly indexPath: string;
  /** The tree, or commit, that the files are at. */
  current: string;
}

export const openWorktreeFiles = Effect.fnUntraced(function* (
  worktree: Worktree,
  indexPath: string,
): Effect.fn.Return<WorktreeFiles, SandduneError> {
  copyFileSync(join(worktree.gitDirectory, "index"), indexPath);
  const options = { cwd: worktree.path, env: { GIT_INDEX_FILE: indexPath } };
  if (!worktree.isReused || !(yield* isDirty(worktree.path))) {
    return { worktreePath: worktree.path, indexPath, current: worktree.baseSha };
  }
  yield* git(["add", "--all"], options);
  return { worktreePath: worktree.path, indexPath, current: yield* gitText(["write-tree"], options) };
});

/** Brings the files to `tree`. When something else has changed them meanwhile nothing is touched, and the sentence says so. */
export const moveWorktreeFiles = (
  files: WorktreeFiles,
  tree: string,
): Effect.Effect<string | undefined, SandduneError> =>
  git(["read-tree", "-m", "-u", files.current, tree], {
    cwd: files.worktreePath,
    env: { GIT_INDEX_FILE: files.indexPath },
  }).pipe(
    Effect.map(() => {
      files.current = tree;
      return undefined;
    }),
    Effect.catchIf(isGitError, (error) =>
      Effect.succeed(
        `The files of ${files.worktreePath} could not be brought to the state of the sandbox, which is kept as ${tree} (${error.stderr.trim()}).`,
      ),
    ),
  );
