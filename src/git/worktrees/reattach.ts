import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { branchRef } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesParent } from "./adminDirectory.ts";

/** A worktree whose `.git` names a git directory elsewhere, because the repository was moved. */
export interface MovedWorktree {
  readonly path: string;
  /** The former path of its git directory. */
  readonly gitDirectory: string;
  readonly branch: string;
}

/** Named as git does: after the worktree's directory, with a number if that name is taken. */
const newGitDirectory = (repository: Repository, path: string): string => {
  const parent = adminDirectoriesParent(repository);
  mkdirSync(parent, { recursive: true });
  let gitDirectory = join(parent, basename(path));
  for (let number = 1; existsSync(gitDirectory); number++) {
    gitDirectory = join(parent, `${basename(path)}${number}`);
  }
  mkdirSync(gitDirectory);
  return gitDirectory;
};

/** Registers the worktree again, with its files as they are and nothing staged. */
const registerAgain = (
  repository: Repository,
  { path, branch }: MovedWorktree,
): Effect.Effect<unknown, SandduneError> =>
  Effect.suspend(() => {
    const gitDirectory = newGitDirectory(repository, path);
    const files = {
      [join(gitDirectory, "commondir")]: "../..\n",
      [join(gitDirectory, "gitdir")]: `${join(path, ".git")}\n`,
      [join(gitDirectory, "HEAD")]: `ref: ${branchRef(branch)}\n`,
      [join(path, ".git")]: `gitdir: ${gitDirectory}\n`,
    };
    for (const [file, content] of Object.entries(files)) {
      // Never through a link.
      rmSync(file, { force: true });
      writeFileSync(file, content, { flag: "wx" });
    }
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
