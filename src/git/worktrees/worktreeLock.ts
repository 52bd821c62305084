import * as Effect from "effect/Effect";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";

/** Git shows it as the reason of the lock. */
export const lockReason = (runId: string): string => `sanddune run ${runId}`;

/** Keeps `git worktree prune`, which an automatic gc runs as well, from removing the worktree; idempotent. */
export const lockWorktree = (
  { topLevel: cwd }: Repository,
  path: string,
  runId: string,
): Effect.Effect<void> =>
  Effect.ignore(git(["worktree", "lock", "--reason", lockReason(runId), path], { cwd }));

/** After the run: the user can remove the worktree with an ordinary `git worktree remove`. Idempotent. */
export const unlockWorktree = ({ topLevel: cwd }: Repository, path: string): Effect.Effect<void> =>
  Effect.ignore(git(["worktree", "unlock", path], { cwd }));
