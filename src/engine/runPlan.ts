import type { AgentProvider } from "../agents/contract.ts";
import type { BranchPlan } from "../git/branchStrategy.ts";
import type { HostState } from "../git/hostState.ts";
import type { Repository } from "../git/repository.ts";
import type { SourceBranch } from "../git/worktrees.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";

/** Everything that is decided about a run session before anything is created. */
export interface RunPlan {
  readonly runId: string;
  readonly repository: Repository;
  readonly host: HostState;
  readonly branches: BranchPlan;
  /** What the agent works on; with `head` that is the user's own checkout. */
  readonly source: SourceBranch | undefined;
  readonly agent: AgentProvider;
  readonly sandbox: SandboxProvider;
  readonly prompt: string;
  readonly maxIterations: number;
  readonly completionSignals: readonly string[];
  readonly idleTimeoutMs: number;
  readonly completionTimeoutMs: number;
  readonly copyToWorktree: readonly string[];
  readonly copyToWorktreeMs: number;
  readonly signal: AbortSignal | undefined;
}
