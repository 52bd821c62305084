import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import {
  BranchMovedError,
  CheckoutInTheWayError,
  ConfigChangeError,
  EmbeddedRepositoryError,
  MergeConflictError,
  type SandduneError,
} from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { type ConfigEntry, isTrue } from "../configFile.ts";
import { changedPaths } from "../diffTree.ts";
import { git, gitText } from "../git.ts";
import { lockBranch, lockMerges } from "../locks/locks.ts";
import { findBareRepositories } from "../nestedRepositories/bareInTree.ts";
import { nulSeparated } from "../output.ts";
import {
  branchRef,
  isAncestor,
  isDetached,
  isGitError,
  lockProblem,
  resolveCommit,
  updateRefs,
} from "../refs.ts";
import type { Repository } from "../repository.ts";
import { fallbackIdentity } from "../sandboxDirectory/sandboxConfig.ts";
import { findCheckout } from "../worktrees/worktreeList.ts";
import { ifBetween, type KnownChange } from "./changes.ts";
import { settleEarlierMerge } from "./earlierMerge.ts";
import { forwardCheckout } from "./forward.ts";
import { findNotes } from "./mergeNote.ts";

export interface MergePlan {
  readonly repository: Repository;
  readonly runId: string;
  readonly sourceBranch: string;
  readonly sourceTip: string;
  /** `undefined`: the detached HEAD of the repository's checkout. */
  readonly targetBranch: string | undefined;
  readonly hostConfig: readonly ConfigEntry[];
  /** What an import has found out about the commits. It is enough for a target that has not moved. */
  readonly known?: KnownChange | undefined;
  /** Called with a sentence if an earlier merge was interrupted in the checkout. */
  readonly onWarning: (sentence: string) => void;
}

/** The merge is computed again if the user commits meanwhile. */
const MAX_ATTEMPTS = 5;

/** Computes the merged commit without touching any checkout. */
const computeMerge = Effect.fnUntraced(function* (
  plan: MergePlan,
  targetTip: string,
): Effect.fn.Return<string, SandduneError> {
  const cwd = plan.repository.topLevel;
  const { sourceTip, sourceBranch } = plan;
  const targetName = plan.targetBranch ?? "HEAD";
  const isForward =
    ifBetween(plan.known, targetTip, sourceTip) !== undefined ||
    (yield* isAncestor(cwd, targetTip, sourceTip));
  if (isForward) return sourceTip;
  const merged = yield* git(
    ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", targetTip, sourceTip],
    {
      cwd,
      expectedExitCodes: [1],
    },
  );
  const [tree = "", ...conflicts] = nulSeparated(merged.stdout);
  if (merged.exitCode === 1) {
    return yield* Effect.fail(new MergeConflictError([...new Set(conflicts)], sourceBranch, targetName));
  }
  // commit-tree ignores commit.gpgSign.
  const signing = isTrue(plan.hostConfig, "commit.gpgsign") ? ["-S"] : [];
  const parents = ["-p", targetTip, "-p", sourceTip];
  const message = `Merge branch '${sourceBranch}'`;
  return yield* gitText(["commit-tree", ...signing, ...parents, "-m", message, tree], {
    cwd,
    env: fallbackIdentity(plan.hostConfig),
  });
});

/** Refuses changes that decide which programs sanddune or git runs on the host: a person has to merge them. */
const refuseUnseen = Effect.fnUntraced(function* (
  plan: MergePlan,
  targetTip: string,
  result: string,
): Effect.fn.Return<void, SandduneError> {
  const cwd = plan.repository.topLevel;
  const { sourceBranch, targetBranch = "HEAD" } = plan;
  const changed =
    ifBetween(plan.known, targetTip, result)?.files.map(({ path }) => path) ??
    (yield* changedPaths(cwd, "-r", targetTip, result));
  const config = changed.filter((path) => `${path}/`.startsWith(`${CONFIG_DIRECTORY_NAME}/`));
  if (config.length > 0) {
    return yield* Effect.fail(new ConfigChangeError(config, sourceBranch, targetBranch));
  }
  const repositories = yield* findBareRepositories(cwd, targetTip, result, changed);
  if (repositories.length > 0) {
    return yield* Effect.fail(new EmbeddedRepositoryError(repositories, sourceBranch, targetBranch));
  }
});

/** During a rebase HEAD is detached, so the branch seems free; the rebase would overwrite the merge. */
const isBeingRebased = ({ commonDirectory }: Repository, branch: string): boolean => {
  const worktrees = join(commonDirectory, "worktrees");
  const linked = existsSync(worktrees) ? readdirSync(worktrees).map((name) => join(worktrees, name)) : [];
  return [commonDirectory, ...linked]
    .flatMap((directory) =>
      ["rebase-merge", "rebase-apply"].map((name) => join(directory, name, "head-name")),
    )
    .some((path) => existsSync(path) && readFileSync(path, "utf8").trim() === branchRef(branch));
};

/** The checkout of the target branch, if any. */
const checkoutOf = ({
  repository,
  targetBranch,
  hostConfig,
}: MergePlan): Effect.Effect<string | undefined, SandduneError> =>
  targetBranch === undefined
    ? Effect.succeed(repository.topLevel)
    : findCheckout(repository, targetBranch, hostConfig);

/** Moves the target to the merged commit, together with its checkout if it has one. */
const advance = Effect.fnUntraced(function* (
  plan: MergePlan,
  targetTip: string,
  result: string,
): Effect.fn.Return<"done" | "target moved", SandduneError> {
  const { repository, targetBranch, sourceBranch } = plan;
  const checkout = yield* checkoutOf(plan);
  if (checkout === undefined) {
    // A target without a name is a detached HEAD, which has a checkout.
    const branch = targetBranch as string;
    const inTheWay = (problem: string) =>
      Effect.fail(new CheckoutInTheWayError(repository.topLevel, sourceBranch, branch, problem));
    if (isBeingRebased(repository, branch)) return yield* inTheWay("a rebase of it is under way");
    return yield* updateRefs(
      repository.topLevel,
      [{ ref: branchRef(branch), to: result, from: targetTip }],
      `sanddune: merge ${sourceBranch}`,
    ).pipe(
      // Git waits 100 ms for a lock; another git may hold it for longer.
      Effect.retry({
        while: (error) => isGitError(error) && lockProblem(error.stderr) !== undefined,
        times: MAX_ATTEMPTS - 1,
      }),
      Effect.as("done" as const),
      Effect.catchIf(isGitError, ({ stderr }) => {
        const problem = lockProblem(stderr);
        return problem === undefined ? Effect.succeed("target moved" as const) : inTheWay(problem);
      }),
    );
  }
  return yield* forwardCheckout({
    repository,
    runId: plan.runId,
    sourceBranch,
    targetBranch,
    checkoutPath: checkout,
    from: targetTip,
    to: result,
    known: plan.known,
  });
});

/** Ends a merge that an earlier run has left in the checkout. */
const settleEarlier = Effect.fnUntraced(function* (plan: MergePlan): Effect.fn.Return<void, SandduneError> {
  const { repository, sourceBranch, targetBranch = "HEAD" } = plan;
  const checkout = findNotes(repository).length === 0 ? undefined : yield* checkoutOf(plan);
  if (checkout === undefined) return;
  const earlier = yield* settleEarlierMerge(repository, checkout, { sourceBranch, targetBranch });
  if (earlier !== undefined) plan.onWarning(earlier.sentence);
});

/** Fails if an agent of another run works in the checkout of the target. */
const lockTarget = ({ repository, runId, sourceBranch }: MergePlan, targetBranch: string) =>
  lockBranch(repository, targetBranch, runId).pipe(
    Effect.mapError(
      ({ owner }) =>
        new CheckoutInTheWayError(
          repository.topLevel,
          sourceBranch,
          targetBranch,
          `it is in use by ${owner}`,
        ),
    ),
  );

/** Whether the target has all commits. No commit is in the history of one that it builds on. */
const isMerged = ({ repository, sourceTip, known }: MergePlan, targetTip: string) =>
  ifBetween(known, targetTip, sourceTip) === undefined
    ? isAncestor(repository.topLevel, sourceTip, targetTip)
    : Effect.succeed(false);

/** Merges the run's branch into the branch that the host was on when the run began. */
export const mergeToHead = (plan: MergePlan): Effect.Effect<void, SandduneError> =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* lockMerges(plan.repository, plan.runId);
      if (plan.targetBranch !== undefined) yield* lockTarget(plan, plan.targetBranch);
      const targetName = plan.targetBranch ?? "HEAD";
      yield* settleEarlier(plan);
      const targetRef = plan.targetBranch === undefined ? "HEAD" : branchRef(plan.targetBranch);
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        if (plan.targetBranch === undefined && !(yield* isDetached(plan.repository.topLevel))) {
          return yield* Effect.fail(
            new BranchMovedError(targetName, "was switched to a branch during the run", plan.sourceBranch),
          );
        }
        const targetTip = yield* resolveCommit(plan.repository.topLevel, targetRef);
        if (targetTip === undefined) {
          return yield* Effect.fail(
            new BranchMovedError(targetName, "was deleted during the run", plan.sourceBranch),
          );
        }
        if (yield* isMerged(plan, targetTip)) return;
        const result = yield* computeMerge(plan, targetTip);
        yield* refuseUnseen(plan, targetTip, result);
        // An interrupted git would leave the user half a merge to clean up.
        if ((yield* Effect.uninterruptible(advance(plan, targetTip, result))) === "done") return;
      }
      return yield* Effect.fail(
        new BranchMovedError(targetName, "kept changing during the merge", plan.sourceBranch),
      );
    }),
  );
