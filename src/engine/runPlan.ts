import type { AgentProvider } from "../agents/contract.ts";
import type { BranchPlan } from "../git/branchStrategy.ts";
import type { ConfigEntry } from "../git/configFile.ts";
import type { HostRef } from "../git/hostRefs.ts";
import type { Repository } from "../git/repository.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";

/** Everything that is decided about a run session before anything is created. */
export interface RunPlan {
  readonly runId: string;
  readonly repository: Repository;
  /** The user's refs and configuration when the run began. */
  readonly hostRefs: readonly HostRef[];
  readonly hostConfig: readonly ConfigEntry[];
  readonly branches: BranchPlan;
  readonly agent: AgentProvider;
  readonly sandbox: SandboxProvider;
  readonly prompt: string;
  readonly maxIterations: number;
  readonly completionSignals: readonly string[];
  readonly idleTimeoutMs: number;
  readonly completionTimeoutMs: number;
  readonly copyToWorktree: readonly string[];
  readonly copyToWorktreeMs: number;
}
