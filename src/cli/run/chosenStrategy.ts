import type { RunOptions } from "../../options/runOptions.ts";
import type { Project } from "../../project/findProject.ts";
import { somePaths } from "../../tools/someOf.ts";
import { UsageError } from "../shared/usageError.ts";

/** The flags that choose the branch strategy. */
export interface StrategyFlags {
  readonly branch?: string;
  readonly from?: string;
  readonly mergeToHead?: boolean;
  readonly head?: boolean;
}

const flaggedStrategy = (flags: StrategyFlags): RunOptions["branchStrategy"] => {
  if (flags.from !== undefined && flags.branch === undefined) {
    throw new UsageError("--from needs --branch NAME");
  }
  if (flags.branch !== undefined) return { type: "branch", branch: flags.branch, from: flags.from };
  if (flags.mergeToHead) return { type: "merge-to-head" };
  return flags.head ? { type: "head" } : undefined;
};

const CHOICES = `Choose one of:
  --head           the agent works in the checkout; its commits may contain those changes
  --merge-to-head  the agent works in a worktree; its commits are merged into the current branch
  --branch NAME    the agent works in a worktree; its commits stay on that branch`;

/**
 * The branch strategy of the flags; `undefined` leaves the choice to `run()`. That is `head` for a bind-mount sandbox, and
 * an agent commits what it finds there, so uncommitted changes need an explicit choice.
 */
export const chosenStrategy = async (
  flags: StrategyFlags,
  sandbox: RunOptions["sandbox"],
  project: Pick<Project, "topLevel" | "uncommittedPaths">,
): Promise<RunOptions["branchStrategy"]> => {
  const strategy = flaggedStrategy(flags);
  if (strategy !== undefined || sandbox.type !== "bind-mount") return strategy;
  const paths = await project.uncommittedPaths();
  if (paths.length === 0) return undefined;
  throw new UsageError(
    `${project.topLevel} has uncommitted changes: ${somePaths(paths)}. Without a flag, the agent would work in that checkout. ${CHOICES}`,
  );
};
