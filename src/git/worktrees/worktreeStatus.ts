import { lstatSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import { git } from "../git.ts";
import { PIPES } from "../nestedRepositories/walkCheckout.ts";

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

const hasChanges = (worktreePath: string): Effect.Effect<boolean, SandduneError> =>
  git(["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all"], {
    cwd: worktreePath,
  }).pipe(Effect.map(({ stdout }) => stdout !== ""));

/** Git reads these files, and would wait for ever for a pipe in the place of one. `except` is not searched. */
export const hasPipes = (worktreePath: string, except?: string): Effect.Effect<boolean, SandduneError> =>
  interruptible((signal) =>
    runProcess({
      program: "find",
      args: [
        ".",
        ...(except === undefined ? [] : ["-path", `./${except}`, "-prune", "-o"]),
        ...PIPES,
        "-print",
      ],
      cwd: worktreePath,
      signal,
    }),
  ).pipe(Effect.map(({ stdout }) => stdout !== ""));

/** Whether a worktree holds anything that is not committed. Fails, rather than guessing, when git cannot tell. */
export const isDirty = Effect.fnUntraced(function* (
  worktreePath: string,
): Effect.fn.Return<boolean, SandduneError> {
  if (yield* hasPipes(worktreePath)) return true;
  const [changes, submodules] = yield* Effect.all(
    [hasChanges(worktreePath), hasFilledSubmodules(worktreePath)],
    { concurrency: "unbounded" },
  );
  return changes || submodules;
});
