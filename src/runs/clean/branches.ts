import * as Effect from "effect/Effect";
import { BranchInUseError, type SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { lockBranch } from "../../git/locks/locks.ts";
import { branchRef, isAncestor, resolveCommit } from "../../git/refs.ts";
import { listWorktrees } from "../../git/worktrees/worktreeList.ts";
import { deleteBranch } from "../../git/worktrees/worktrees.ts";
import { TEMPORARY_BRANCH_PREFIX } from "../../options/branchStrategy.ts";
import { counted } from "../../tools/counted.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

/** The number of commits that no other branch, tag or remote branch contains. */
const commitsNowhereElse = (cwd: string, branch: string): Effect.Effect<number, SandduneError> =>
  gitText(
    [
      "rev-list",
      "--count",
      branchRef(branch),
      "--not",
      `--exclude=${branchRef(branch)}`,
      "--glob=refs/heads/*",
      "--tags",
      "--remotes",
    ],
    { cwd },
  ).pipe(Effect.map(Number));

/** Branches of merge-to-head are temporary; any other branch is the result of its run. */
const isTemporary = ({ runId }: StoredRun, branch: string): boolean =>
  branch === `${TEMPORARY_BRANCH_PREFIX}${runId}`;

/** Git may be unable to list worktrees because of an unfinished one. */
const UNKNOWN_HOLDER = { path: "a worktree that git cannot list" };

const findBranch = Effect.fnUntraced(function* (
  scope: CleanScope,
  run: StoredRun,
  branch: string,
): Effect.fn.Return<Leftover | undefined, SandduneError> {
  const { repository } = scope;
  const cwd = repository.topLevel;
  const sha = yield* resolveCommit(cwd, branchRef(branch));
  if (sha === undefined) return undefined;
  const target = run.targetBranch === undefined ? "HEAD" : branchRef(run.targetBranch);
  const isMerged = (yield* resolveCommit(cwd, target)) !== undefined && (yield* isAncestor(cwd, sha, target));
  const alone = isMerged ? 0 : yield* commitsNowhereElse(cwd, branch);
  const worktrees = yield* Effect.catch(listWorktrees(cwd), () => Effect.succeed(undefined));
  const holders = worktrees?.filter((worktree) => worktree.branch === branch) ?? [UNKNOWN_HOLDER];
  const isOfUnfinishedFork = run.isUnfinishedCopy;
  const holder = holders.find(({ path }) => !scope.goneWorktrees.has(path));
  const unmerged = alone === 0 ? undefined : `${counted(alone, "commit")} on no other branch`;
  const keep =
    holder === undefined
      ? unlessNamed(
          scope.namedBranches.has(branch),
          isMerged || (isOfUnfinishedFork && alone === 0) ? undefined : (unmerged ?? "it is not merged"),
        )
      : { keptBecause: `it is checked out at ${holder.path}` };
  return {
    what: "branch",
    name: branch,
    runIds: [run.runId],
    detail: `at ${sha}, ${isMerged ? "merged" : (unmerged ?? "not merged")}`,
    ...keep,
    remove: Effect.scoped(
      Effect.gen(function* () {
        yield* lockBranch(repository, branch, "to be cleaned up");
        if (!(yield* deleteBranch(repository, branch, sha))) {
          return yield* Effect.fail(
            new BranchInUseError(branch, "another process, which has just changed it", "Clean up again."),
          );
        }
        amendJournal(run.runDirectory, { type: "removed", what: "branch", name: branch });
      }),
    ),
  };
});

/** Finds branches that runs created: temporary ones, those of forks that were never complete, and those that the user named. */
export const findBranches = (scope: CleanScope): Effect.Effect<Leftover[], SandduneError> => {
  const inUse = new Set(scope.runs.filter(({ state }) => state === "running").map(({ branch }) => branch));
  const candidates = scope.selected.flatMap((run) =>
    run.owns
      .filter(({ what, name }) => what === "branch" && !inUse.has(name))
      .filter(({ name }) => scope.namedBranches.has(name) || isTemporary(run, name) || run.isUnfinishedCopy)
      .map(({ name }) => ({ run, name })),
  );
  return Effect.forEach(candidates, ({ run, name }) => findBranch(scope, run, name)).pipe(
    Effect.map((found) => found.filter((leftover) => leftover !== undefined)),
  );
};
