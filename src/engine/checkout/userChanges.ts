import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { among, listCommitted, listUncommitted } from "../../git/worktrees/uncommittedPaths.ts";
import { somePaths } from "../../tools/someOf.ts";
import type { Session } from "../session/session.ts";

/** The user's uncommitted changes in the checkout that an agent will work in. */
export interface UserChanges {
  readonly paths: readonly string[];
  /** Warnings for the caller. */
  readonly warnings: readonly string[];
}

export const NO_USER_CHANGES: UserChanges = { paths: [], warnings: [] };

/** Reads the changes before the agent starts. If git fails, the run continues with a warning. */
export const findUserChanges = ({ topLevel }: Repository): Effect.Effect<UserChanges> =>
  listUncommitted(topLevel).pipe(
    Effect.map((paths) =>
      paths.length === 0
        ? NO_USER_CHANGES
        : {
            paths,
            warnings: [
              `The agent works in your checkout, which has uncommitted changes: ${somePaths(paths)}. Its commits may contain them. To keep them separate, commit or stash them first, or use the branch strategy \`branch\` or \`merge-to-head\`.`,
            ],
          },
    ),
    Effect.catch((error: SandduneError) =>
      Effect.succeed({
        paths: [],
        warnings: [`Could not find out whether ${topLevel} has uncommitted changes: ${error.message}`],
      }),
    ),
  );

/** Records which of the user's uncommitted files the session's imported commits contain. */
export const noteUserChanges = (
  { plan, progress }: Session,
  commits: readonly string[],
): Effect.Effect<void> => {
  const { userChanges, repository } = plan;
  if (userChanges.length === 0 || commits.length === 0) return Effect.void;
  return listCommitted(repository.topLevel, commits).pipe(
    Effect.map((committed) => {
      const news = among(userChanges, committed).filter((path) => !progress.committedUserPaths.has(path));
      if (news.length === 0) return;
      for (const path of news) progress.committedUserPaths.add(path);
      progress.warn(`The run's commits contain files that you had not committed: ${somePaths(news)}.`);
    }),
    Effect.catch((error: SandduneError) =>
      Effect.sync(() =>
        progress.warn(
          `Could not find out which of your uncommitted files the commits contain: ${error.message}`,
        ),
      ),
    ),
  );
};
