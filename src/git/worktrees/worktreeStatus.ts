import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { type GitOptions, git } from "../git.ts";
import { findOddEntries } from "./oddEntries.ts";

/** How git finds the files and the index, if not in the usual way. */
export type StatusOptions = Pick<GitOptions, "env" | "mount">;

/**
 * Whether any submodule is initialised. Git must not look into submodules, whose configuration an agent may have
 * written; so their files count as uncommitted work.
 */
export const hasFilledSubmodules = (
  worktreePath: string,
  options: StatusOptions = {},
  filesPath: string = worktreePath,
): Effect.Effect<boolean, SandduneError> =>
  git(["ls-files", "-z", "--stage"], { ...options, cwd: worktreePath }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .filter((entry) => entry.startsWith("160000 "))
        .some((entry) => entryExists(join(filesPath, entry.slice(entry.indexOf("\t") + 1), ".git"))),
    ),
  );

/** Lists what was changed, by NUL-separated names. */
export const STATUS = [
  "status",
  "--porcelain",
  "-z",
  "--untracked-files=normal",
  "--ignore-submodules=all",
] as const;

/** Whether a file was changed, deleted or added, at these paths if they are given. Ignored files do not count. */
export const hasChanges = (
  worktreePath: string,
  options: StatusOptions = {},
  paths?: readonly string[],
): Effect.Effect<boolean, SandduneError> =>
  git(paths === undefined ? STATUS : ["--literal-pathspecs", ...STATUS, "--", ...paths], {
    ...options,
    cwd: worktreePath,
  }).pipe(Effect.map(({ stdout }) => stdout !== ""));

/** Whether a worktree holds uncommitted work. Fails if git cannot tell. */
export const isDirty = Effect.fnUntraced(function* (
  worktreePath: string,
): Effect.fn.Return<boolean, SandduneError> {
  const { hasPipes, mayHaveRepositories } = yield* findOddEntries(worktreePath);
  if (hasPipes) return true;
  const [changes, submodules] = yield* Effect.all(
    [
      hasChanges(worktreePath),
      mayHaveRepositories ? hasFilledSubmodules(worktreePath) : Effect.succeed(false),
    ],
    { concurrency: "unbounded" },
  );
  return changes || submodules;
});
