import { InvalidBranchNameError, InvalidOptionsError } from "../errors.ts";
import { branchNameProblem } from "./branchName.ts";

/** The agent works in your checkout, on the branch that is checked out there. */
export interface HeadStrategy {
  readonly type: "head";
}

/** The agent works on a temporary branch. When the run succeeds, that branch is merged into your current branch. */
export interface MergeToHeadStrategy {
  readonly type: "merge-to-head";
}

/** The agent works on the named branch. It is created if it does not exist. */
export interface NamedBranchStrategy {
  readonly type: "branch";
  readonly branch: string;
  /** The branch, tag or commit that a new branch starts from. Default: `HEAD`. */
  readonly from?: string;
}

/** Where the agent works, and where its commits end up. */
export type BranchStrategy = HeadStrategy | MergeToHeadStrategy | NamedBranchStrategy;

/** A branch strategy with a worktree. `head` has none, so it is not possible with an isolated sandbox. */
export type WorktreeBranchStrategy = MergeToHeadStrategy | NamedBranchStrategy;

/** The HEAD of the host repository. It has no branch when it is detached. */
export interface HostHead {
  readonly branch: string | undefined;
  readonly sha: string;
}

/** The branches of a run, decided before anything is created. */
export type BranchPlan = {
  /** The host's branch when the run began; `undefined` when HEAD was detached. */
  readonly targetBranch: string | undefined;
  /** The commit, branch or tag that a new source branch starts from. */
  readonly from: string;
} & (
  | {
      readonly strategy: "head";
      /** The branch the agent works on; `undefined` when HEAD is detached. */
      readonly sourceBranch: string | undefined;
    }
  | { readonly strategy: "merge-to-head" | "branch"; readonly sourceBranch: string }
);

export type SandboxType = "bind-mount" | "isolated" | "none";

const DEFAULT_STRATEGY: Record<SandboxType, BranchStrategy> = {
  "bind-mount": { type: "head" },
  isolated: { type: "merge-to-head" },
  none: { type: "head" },
};

/** The prefix of merge-to-head's temporary branches. */
export const TEMPORARY_BRANCH_PREFIX = "sanddune/";

/** Resolves a branch strategy, without any I/O. Throws if the strategy is not possible. */
export const resolveBranchStrategy = (
  requested: BranchStrategy | undefined,
  sandboxType: SandboxType,
  hostHead: HostHead,
  runId: string,
): BranchPlan => {
  const strategy = requested ?? DEFAULT_STRATEGY[sandboxType];
  const target = { targetBranch: hostHead.branch };
  switch (strategy.type) {
    case "head":
      if (sandboxType === "isolated") {
        throw new InvalidOptionsError(
          "branchStrategy",
          "an isolated sandbox cannot work in the host's directory, so `head` is not possible. Use `merge-to-head` or `branch`.",
        );
      }
      return { strategy: "head", sourceBranch: hostHead.branch, ...target, from: hostHead.sha };
    case "merge-to-head":
      return {
        strategy: "merge-to-head",
        sourceBranch: `${TEMPORARY_BRANCH_PREFIX}${runId}`,
        ...target,
        from: hostHead.sha,
      };
    case "branch": {
      const problem = branchNameProblem(strategy.branch);
      if (problem !== undefined) throw new InvalidBranchNameError(strategy.branch, problem);
      return {
        strategy: "branch",
        sourceBranch: strategy.branch,
        ...target,
        from: strategy.from ?? hostHead.sha,
      };
    }
  }
};
