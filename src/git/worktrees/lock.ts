import * as Effect from "effect/Effect";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";

/** What git says when somebody asks why a worktree is locked. */
export const lockReason = (runId: string): string => `sanddune run ${runId}`;

/** Keeps every `git worktree prune`, of the user's or of an automatic gc, from taking the worktree away; idempotent. */
export const lockWorktree = (
  { topLevel: cwd }: Repository,
  path: string,
  runId: string,
): Effect.Effect<void> =>
  Effect.ignore(git(["worktree", "lock", "--reason", lockReason(runId), path], { cwd }));

/** No run works in it any more: the user can remove it with an ordinary `git worktree remove`. Idempotent. */
export const unlockWorktree = ({ topLevel: cwd }: Repository, path: string): Effect.Effect<void> =>
  Effect.ignore(git(["worktree", "unlock", path], { cwd }));
