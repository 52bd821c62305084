import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import type { SandduneError } from "../../errors.ts";
import { ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { git } from "../git.ts";
import { type HostState, readHostState } from "../hostState.ts";
import { lockWorktrees } from "../locks/locks.ts";
import { branchRef } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { gitMustAddWorktrees } from "../worktrees/addWorktree.ts";
import { adminDirectoriesOf } from "../worktrees/adminDirectory.ts";
import { registerWorktree } from "../worktrees/registerWorktree.ts";
import { lockReason } from "../worktrees/worktreeLock.ts";
import { reattachIfMoved, worktreePathOf } from "../worktrees/worktrees.ts";
import { type EmptyWorktree, holdsFiles } from "./overlayCheckout.ts";

/** Why the branch can have no worktree. */
const obstacle = ({ refs, worktrees }: HostState, branch: string): string | undefined => {
  if (!refs.some(({ name }) => name === branchRef(branch))) return "the branch no longer exists";
  const holder = worktrees.find((worktree) => worktree.branch === branch);
  return holder && `the branch is checked out at ${holder.path}`;
};

/** Registers the worktree with neither files nor an index. Files at its path stay. */
const register = Effect.fnUntraced(function* (
  repository: Repository,
  { config }: HostState,
  worktree: { readonly path: string; readonly branch: string; readonly lockReason: string },
): Effect.fn.Return<void, SandduneError> {
  const { path, branch, lockReason: reason } = worktree;
  if (!gitMustAddWorktrees(config)) {
    yield* attempt(() => registerWorktree(repository, worktree));
    return;
  }
  if (!holdsFiles(path)) rmSync(join(path, ".git"), { force: true });
  yield* git(["worktree", "add", "--no-checkout", "--quiet", "--lock", "--reason", reason, path, branch], {
    cwd: repository.topLevel,
  });
});

/**
 * Finds the worktree that the overlay of a dead run is written out to. The user may have unregistered it, because it is empty: then it is
 * registered again. Succeeds with a sentence if that is impossible.
 */
export const openEmptyWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  branch: string,
  runId: string,
): Effect.fn.Return<EmptyWorktree | string, SandduneError> {
  const path = worktreePathOf(repository, branch);
  yield* reattachIfMoved(repository, path, branch);
  return yield* Effect.scoped(
    Effect.gen(function* () {
      yield* lockWorktrees(repository);
      const [gitDirectory] = adminDirectoriesOf(repository, path);
      if (gitDirectory !== undefined) return { path, gitDirectory };
      const host = yield* readHostState(repository);
      const problem = obstacle(host, branch);
      if (problem !== undefined) return problem;
      ensureConfigDirectoryPart(repository.configDirectory, "worktrees");
      yield* register(repository, host, { path, branch, lockReason: lockReason(runId) });
      const [registered] = adminDirectoriesOf(repository, path);
      return registered === undefined ? `git did not register ${path}` : { path, gitDirectory: registered };
    }),
  );
});
