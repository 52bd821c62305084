import type { RunLog } from "../display/runLog.ts";
import type { NestedRepositories } from "../git/nestedRepositories.ts";
import type { Journal } from "./journal.ts";
import type { RunPlan } from "./runPlan.ts";
import type { RunProgress } from "./runProgress.ts";

/** What the steps of one run session share. */
export interface RunContext {
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly log: RunLog;
  readonly progress: RunProgress;
  /** Where the source branch is on the host; moves with every import. */
  tip: string;
  /** Repositories inside the checkout that were there before the agent. */
  nestedRepositories: NestedRepositories;
  /** The commit that the checkout's index is at. */
  indexAt: string;
  /** Directories that the agent's commits have made submodules of. */
  newSubmodules: readonly string[];
  agentHasStarted: boolean;
  /** The source branch has been merged into the target branch. */
  isMerged: boolean;
  /** Set when the worktree must stay even if it is clean. */
  keepWorktreeReason: string | undefined;
  /** Refs of the run's own that hold nothing that is not held elsewhere too. */
  readonly redundantRefs: Set<string>;
  /** Files of this run hold work that is nowhere else: they stay. */
  keepsRunFiles: boolean;
}
