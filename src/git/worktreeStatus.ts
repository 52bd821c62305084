import { lstatSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Directories recorded as submodules that have been filled. Git is told not to look into them, because their
 * configuration may be the agent's; so whatever is in them counts as work.
 */
export const hasFilledSubmodules = (worktreePath: string): Effect.Effect<boolean, SandduneError> =>
  git(["ls-files", "-z", "--stage"], { cwd: worktreePath }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .filter((entry) => entry.startsWith("160000 "))
        .some((entry) => exists(join(worktreePath, entry.slice(entry.indexOf("\t") + 1), ".git"))),
    ),
  );

/** Whether a worktree holds anything that is not committed. Fails, rather than guessing, when git cannot tell. */
export const isDirty = (worktreePath: string): Effect.Effect<boolean, SandduneError> =>
  Effect.all(
    [
      git(["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all"], {
        cwd: worktreePath,
      }),
      hasFilledSubmodules(worktreePath),
    ],
    { concurrency: "unbounded" },
  ).pipe(Effect.map(([status, submodules]) => status.stdout !== "" || submodules));
