import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const guardIn = (runDirectory: string): string => join(runDirectory, ".git");

/**
 * Makes `git clean -fdx` skip a run's directory, as it skips worktrees: it holds the git directory that an agent commits to. Git takes a
 * directory with these entries for a repository, which has no commits.
 */
export const guardFromClean = (runDirectory: string): void => {
  const guard = guardIn(runDirectory);
  for (const path of [guard, join(guard, "objects"), join(guard, "refs")]) mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(guard, "HEAD"), "ref: refs/heads/none\n");
};

/** Nothing but the record of the run is left in the directory. */
export const endGuard = (runDirectory: string): void =>
  rmSync(guardIn(runDirectory), { recursive: true, force: true });
