import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { ConfigEntry } from "../configFile.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { readWorktreeFiles } from "./worktreeListFiles.ts";

export interface RegisteredWorktree {
  readonly path: string;
  /** `undefined` when its HEAD is detached. */
  readonly branch: string | undefined;
}

/** Every checkout of the repository, with the branch that is checked out in it. */
export const listWorktrees = (cwd: string): Effect.Effect<readonly RegisteredWorktree[], SandduneError> =>
  git(["worktree", "list", "--porcelain", "-z"], { cwd }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0\0")
        .filter((entry) => entry !== "")
        .map((entry) => {
          const lines = entry.split("\0");
          const fieldOf = (key: string) =>
            lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
          return {
            path: fieldOf("worktree") ?? "",
            branch: fieldOf("branch")?.replace(/^refs\/heads\//, ""),
          };
        }),
    ),
  );

/**
 * The same, from git's files, which saves a process. Asks git if the files are not the ones that every git has written:
 * another storage of refs, a half-made worktree, a bare repository.
 */
export const readWorktrees = (
  repository: Repository,
  hostConfig: readonly ConfigEntry[],
): Effect.Effect<readonly RegisteredWorktree[], SandduneError> =>
  Effect.suspend(() => {
    const known = readWorktreeFiles(repository, hostConfig);
    return known === undefined ? listWorktrees(repository.topLevel) : Effect.succeed(known);
  });

/**
 * The path of the checkout that has a branch, if any. For a main checkout whose git directory is elsewhere, as in a
 * submodule, git lists the git directory instead.
 */
export const findCheckout = (
  repository: Repository,
  branch: string,
  hostConfig: readonly ConfigEntry[],
): Effect.Effect<string | undefined, SandduneError> =>
  readWorktrees(repository, hostConfig).pipe(
    Effect.map((worktrees) => {
      const { topLevel, gitDirectory, commonDirectory } = repository;
      const path = worktrees.find((worktree) => worktree.branch === branch)?.path;
      if (path !== commonDirectory) return path;
      if (gitDirectory === commonDirectory) return topLevel;
      const workTree = hostConfig.findLast(([key]) => key === "core.worktree")?.[1];
      return workTree === undefined ? path : resolve(commonDirectory, workTree);
    }),
  );
