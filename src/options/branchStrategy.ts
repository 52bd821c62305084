import { InvalidBranchNameError, InvalidOptionsError } from "../errors.ts";
import { branchNameProblem } from "./branchName.ts";

/** The agent works in the host's working directory, on the branch that is checked out there. */
export interface HeadStrategy {
  readonly type: "head";
}

/** The agent works on a temporary branch, which is merged into the host's branch when the run succeeded. */
export interface MergeToHeadStrategy {
  readonly type: "merge-to-head";
}

/** The agent works on the named branch, which is created if it does not exist. */
export interface NamedBranchStrategy {
  readonly type: "branch";
  readonly branch: string;
  /** Where a new branch starts: a branch, tag or commit. HEAD when it is left out. */
  readonly from?: string;
}

/** Where the agent works, and where its commits end up. */
export type BranchStrategy = HeadStrategy | MergeToHeadStrategy | NamedBranchStrategy;

/** Isolated sandboxes have no host directory to work in: `head` is not possible. */
export type WorktreeBranchStrategy = MergeToHeadStrategy | NamedBranchStrategy;

/** What the host repository's HEAD points to; without a branch when it is detached. */
export interface HostHead {
  readonly branch: string | undefined;
  readonly sha: string;
}

/** How the agent's work relates to branches, decided before anything is created. */
export type BranchPlan = {
  /** The host's branch when the run began; `undefined` when HEAD was detached. */
  readonly targetBranch: string | undefined;
  /** What a new source branch starts from. */
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

/** Prefix of the temporary branches of merge-to-head. */
export const TEMPORARY_BRANCH_PREFIX = "sanddune/";

/** The branch strategy resolver: pure, no I/O. Throws for what is impossible or not allowed. */
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
