import * as Effect from "effect/Effect";
import { GitError, ProcessStartError, type SandduneError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { git } from "../git.ts";
import { hasPipes } from "./worktreeStatus.ts";

/**
 * What a checkout holds that is not committed: changed files, and untracked ones, of which a whole directory is one
 * entry that ends with a slash. Ignored files do not count. Neither does the config directory: `sanddune init` writes
 * it, agents cannot, and commits that contain it are reported as protected paths.
 */
export const listUncommitted = Effect.fnUntraced(function* (
  cwd: string,
): Effect.fn.Return<readonly string[], SandduneError> {
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"];
  // No sandbox writes to the config directory of a checkout, and its worktrees may be large. That `find` is missing is
  // reported when the run needs it.
  const waits = hasPipes(cwd, CONFIG_DIRECTORY_NAME).pipe(
    Effect.catchIf(
      (error) => error instanceof ProcessStartError,
      () => Effect.succeed(false),
    ),
  );
  if (yield* waits) {
    return yield* Effect.fail(new GitError(args, -1, "there is a named pipe that git would wait for"));
  }
  const { stdout } = yield* git([...args, "--ignore-submodules=all"], { cwd });
  return stdout
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => entry.slice("XY ".length))
    .filter((path) => path !== CONFIG_DIRECTORY_NAME && !path.startsWith(`${CONFIG_DIRECTORY_NAME}/`));
});

/** The paths that commits have changed, each commit by itself: a file that a later commit removes is in the history. */
export const listCommitted = (
  cwd: string,
  commits: readonly string[],
): Effect.Effect<readonly string[], SandduneError> =>
  git(["diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--name-only", "--no-commit-id", "--no-renames"], {
    cwd,
    stdin: commits.map((sha) => `${sha}\n`).join(""),
  }).pipe(Effect.map(({ stdout }) => [...new Set(stdout.split("\0").filter((path) => path !== ""))]));

/** Those of the paths that were not committed before. */
export const among = (uncommitted: readonly string[], paths: readonly string[]): readonly string[] => {
  const files = new Set(uncommitted);
  const directories = uncommitted.filter((path) => path.endsWith("/"));
  return paths.filter(
    (path) => files.has(path) || directories.some((directory) => path.startsWith(directory)),
  );
};
