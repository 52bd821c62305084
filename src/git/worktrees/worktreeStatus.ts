import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { git } from "../git.ts";
import { PIPES } from "../nestedRepositories/walkCheckout.ts";

/**
 * Whether any submodule is initialised. Git must not look into submodules, whose configuration an agent may have
 * written; so their files count as uncommitted work.
 */
export const hasFilledSubmodules = (worktreePath: string): Effect.Effect<boolean, SandduneError> =>
  git(["ls-files", "-z", "--stage"], { cwd: worktreePath }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .filter((entry) => entry.startsWith("160000 "))
        .some((entry) => entryExists(join(worktreePath, entry.slice(entry.indexOf("\t") + 1), ".git"))),
    ),
  );

const hasChanges = (worktreePath: string): Effect.Effect<boolean, SandduneError> =>
  git(["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all"], {
    cwd: worktreePath,
  }).pipe(Effect.map(({ stdout }) => stdout !== ""));

/** Whether a named pipe replaces a file that git reads, for which git would wait for ever. `except` is not searched. */
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

/** Whether a worktree holds uncommitted work. Fails if git cannot tell. */
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
