import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git, gitText } from "../../git/git.ts";
import { disarmNestedRepositories } from "../../git/nestedRepositories/disarm.ts";
import {
  findNestedRepositories,
  type NestedSearch,
} from "../../git/nestedRepositories/findNestedRepositories.ts";
import { stillPresent } from "../../git/nestedRepositories/journalEntries.ts";
import type { RecoveredCommits } from "../../git/recovery/recoverCommits.ts";
import { resolveCommit } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { inspectChanges } from "../../git/runChanges.ts";
import { syncIndex } from "../../git/worktrees/syncIndex.ts";
import { listWorktrees } from "../../git/worktrees/worktreeList.ts";
import { unlockWorktree } from "../../git/worktrees/worktreeLock.ts";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import type { DeadWork } from "./deadWork.ts";

const searchIn = Effect.fnUntraced(function* (
  { topLevel, configDirectory }: Repository,
  { checkoutPath, base, run, isUsersCheckout }: DeadWork,
  tip: string | undefined,
): Effect.fn.Return<NestedSearch, SandduneError> {
  const changes = tip === undefined ? undefined : yield* inspectChanges(topLevel, base, tip);
  // The branch of a worktree may hold commits of earlier agents: only the user's HEAD is trusted.
  const trustedCommit = isUsersCheckout ? undefined : yield* resolveCommit(topLevel, "HEAD");
  return {
    checkoutPath,
    skipsConfigDirectory: checkoutPath === dirname(configDirectory),
    submodulePaths: changes?.newSubmodules ?? [],
    changedSince: isUsersCheckout ? BigInt(run.begunAt.getTime()) * 1_000_000n : 0n,
    ...(trustedCommit !== undefined && { trustedCommit }),
  };
});

/** Renames the repositories that the agent created in its checkout, but not the user's own. */
const disarm = Effect.fnUntraced(function* (
  { run: { work, owner }, isUsersCheckout, checkoutPath }: DeadWork,
  search: NestedSearch,
): Effect.fn.Return<string[], SandduneError> {
  if (work === undefined && isUsersCheckout) {
    return [
      `Look for repositories that the agent may have made in ${checkoutPath}: its journal does not tell.`,
    ];
  }
  const before = stillPresent(yield* findNestedRepositories(search), work?.nestedRepositories ?? [], {
    isSameBoot: owner.bootId === ownIdentity().bootId,
  });
  return yield* disarmNestedRepositories(search, before);
});

/** The commit that the index matches: the run may have been killed after it moved the branch. */
const indexCommit = Effect.fnUntraced(function* (
  { checkoutPath, base, importedCommits }: DeadWork,
  current: string,
): Effect.fn.Return<string, SandduneError> {
  for (const commit of [current, ...importedCommits.toReversed(), base]) {
    const { exitCode } = yield* git(["diff-index", "--cached", "--quiet", commit, "--"], {
      cwd: checkoutPath,
      expectedExitCodes: [1],
    });
    if (exitCode === 0) return commit;
  }
  return current;
});

/**
 * Makes the checkout of a dead run safe to use: disarms the repositories that could run programs on the host, then updates
 * the index to the branch. Resolves with sentences.
 */
export const settleCheckout = Effect.fnUntraced(function* (
  repository: Repository,
  work: DeadWork,
  { before, tip }: Pick<RecoveredCommits, "before" | "tip">,
): Effect.fn.Return<string[], SandduneError> {
  const { checkoutPath, isUsersCheckout, branch } = work;
  const isThere = (yield* listWorktrees(repository.topLevel)).some(({ path }) => path === checkoutPath);
  if (!isThere) return [];
  const told = yield* disarm(work, yield* searchIn(repository, work, tip));
  if (!isUsersCheckout) yield* unlockWorktree(repository, checkoutPath);
  if (before === undefined || tip === undefined) return told;
  const gitDirectory = yield* gitText(["rev-parse", "--absolute-git-dir"], { cwd: checkoutPath });
  // The lock file belongs to the dead run: this process holds the lock of the branch.
  if (!isUsersCheckout) rmSync(join(gitDirectory, "index.lock"), { force: true });
  const from = yield* indexCommit(work, before);
  const problem = yield* syncIndex({ checkoutPath, gitDirectory, branch, from, to: tip });
  return problem === undefined ? told : [...told, problem];
});
