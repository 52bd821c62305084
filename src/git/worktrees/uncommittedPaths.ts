import * as Effect from "effect/Effect";
import { GitError, ProcessStartError, type SandduneError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { git } from "../git.ts";
import { nulSeparated } from "../output.ts";
import { hasPipes } from "./oddEntries.ts";

/**
 * The changed and untracked files of a checkout. An untracked directory is one entry, with a slash at its end. Ignored
 * files are left out. So is the config directory: `sanddune init` writes it, agents cannot, and commits that change it
 * are reported as protected paths.
 */
export const listUncommitted = Effect.fnUntraced(function* (
  cwd: string,
): Effect.fn.Return<readonly string[], SandduneError> {
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"];
  // The config directory is skipped: no sandbox writes to it, and its worktrees may be large. A missing `find` is
  // reported later, when the run needs it.
  const waits = hasPipes(cwd, CONFIG_DIRECTORY_NAME).pipe(
    Effect.catchIf(
      (error) => error instanceof ProcessStartError,
      () => Effect.succeed(false),
    ),
  );
  if (yield* waits) {
    return yield* Effect.fail(new GitError(args, -1, "git would wait for a named pipe in the checkout"));
  }
  const { stdout } = yield* git([...args, "--ignore-submodules=all"], { cwd });
  return nulSeparated(stdout)
    .map((entry) => entry.slice("XY ".length))
    .filter((path) => path !== CONFIG_DIRECTORY_NAME && !path.startsWith(`${CONFIG_DIRECTORY_NAME}/`));
});

/** The paths that each of the commits has changed: a file that a later commit removes is still in the history. */
export const listCommitted = (
  cwd: string,
  commits: readonly string[],
): Effect.Effect<readonly string[], SandduneError> =>
  git(["diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--name-only", "--no-commit-id", "--no-renames"], {
    cwd,
    stdin: commits.map((sha) => `${sha}\n`).join(""),
  }).pipe(Effect.map(({ stdout }) => [...new Set(nulSeparated(stdout))]));

/** The paths that are among the uncommitted ones, or in an uncommitted directory. */
export const among = (uncommitted: readonly string[], paths: readonly string[]): readonly string[] => {
  const files = new Set(uncommitted);
  const directories = uncommitted.filter((path) => path.endsWith("/"));
  return paths.filter(
    (path) => files.has(path) || directories.some((directory) => path.startsWith(directory)),
  );
};
