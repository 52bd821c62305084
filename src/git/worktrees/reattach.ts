import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesParent } from "./adminDirectory.ts";
import { registerWorktree } from "./registerWorktree.ts";

/** A worktree whose `.git` names a git directory elsewhere, because the repository was moved. */
export interface MovedWorktree {
  readonly path: string;
  /** The former path of its git directory. */
  readonly gitDirectory: string;
  readonly branch: string;
}

/** Registers the worktree again, with its files as they are and nothing staged. */
const registerAgain = (
  repository: Repository,
  { path, branch }: MovedWorktree,
): Effect.Effect<unknown, SandduneError> =>
  Effect.suspend(() => {
    registerWorktree(repository, { path, branch });
    return git(["reset", "--quiet"], { cwd: path });
  });

/**
 * Registers a worktree again after its repository was moved. `git worktree prune` may have unregistered it, because its
 * former path does not exist; its files still exist, and may be the only copy of the work.
 */
export const reattach = (
  repository: Repository,
  worktree: MovedWorktree,
): Effect.Effect<unknown, SandduneError> =>
  existsSync(join(adminDirectoriesParent(repository), basename(worktree.gitDirectory)))
    ? git(["worktree", "repair", worktree.path], { cwd: repository.topLevel })
    : registerAgain(repository, worktree);
