import { copyFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { type GitOptions, git, gitText } from "../git.ts";
import { isGitFailure, reasonOf } from "../refs.ts";
import { SANDDUNE_IDENTITY } from "../sandboxDirectory/sandboxConfig.ts";
import type { GitWorktree } from "./worktrees.ts";

/**
 * The files of a worktree whose agent works elsewhere, in an isolated sandbox. They follow what the sandbox has,
 * committed or not, by an index of their own; the worktree's real index follows the commits only, so that git shows
 * the difference as uncommitted changes.
 */
export interface WorktreeFiles {
  readonly worktreePath: string;
  readonly indexPath: string;
  /** A commit that holds what was uncommitted in the worktree when the run began, if anything was. */
  readonly uncommitted: string | undefined;
  /** The commit that the files are at. */
  current: string;
}

/**
 * Puts every uncommitted file into the index, and tells whether there was any. `git add --all` would do that too, but
 * it enters nested repositories, whose settings are the agent's.
 */
const addUncommitted = Effect.fnUntraced(function* (
  options: GitOptions,
): Effect.fn.Return<boolean, SandduneError> {
  const status = yield* git(
    ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"],
    { ...options, encoding: "latin1" },
  );
  const paths = status.stdout
    .split("\0")
    .filter((entry) => entry !== "" && !entry.endsWith("/"))
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
  // An index that has followed its branch does not know the files that are there: git would not dare to replace them.
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

/** Brings the files to `commit`. When something else has changed them meanwhile nothing is touched, and the sentence says so. */
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
        `The files of ${files.worktreePath} could not be brought to the state of the sandbox, which is kept as ${commit} (${reasonOf(error)}).`,
      ),
    ),
  );
