import type { AgentProvider } from "../agents/contract.ts";
import type { LoggingOption } from "../display/logging.ts";
import type { ResolvedEnv } from "../env/envValues.ts";
import type { BranchPlan } from "../git/branchStrategy.ts";
import type { HostState } from "../git/hostState.ts";
import type { Repository } from "../git/repository.ts";
import type { SourceBranch } from "../git/worktrees.ts";
import type { HostHook, SandboxHook } from "../hooks.ts";
import type { OutputDefinition } from "../output.ts";
import type { ResolvedPrompt } from "../prompt/resolvePrompt.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import type { HookName } from "./hooks.ts";

/** The hooks of a run, by name; a list for each. */
export type HookPlan = Readonly<Record<Exclude<HookName, "sandbox.onSandboxReady">, readonly HostHook[]>> & {
  readonly "sandbox.onSandboxReady": readonly SandboxHook[];
};

/** Everything that is decided about a run session before anything is created. */
export interface RunPlan {
  readonly runId: string;
  /** When `run()` was called, by the monotonic clock. */
  readonly startedAt: number;
  readonly name: string | undefined;
  readonly repository: Repository;
  readonly host: HostState;
  readonly branches: BranchPlan;
  /** What the agent works on; with `head` that is the user's own checkout. */
  readonly source: SourceBranch | undefined;
  readonly agent: AgentProvider;
  readonly sandbox: SandboxProvider;
  readonly prompt: ResolvedPrompt;
  readonly promptExpansionMs: number;
  readonly env: ResolvedEnv;
  readonly hooks: HookPlan;
  /** Some hook in the sandbox runs as root. */
  readonly usesSudo: boolean;
  readonly logging: LoggingOption;
  readonly output: OutputDefinition | undefined;
  readonly maxIterations: number;
  readonly completionSignals: readonly string[];
  readonly idleTimeoutMs: number;
  readonly completionTimeoutMs: number;
  readonly copyToWorktree: readonly string[];
  readonly copyToWorktreeMs: number;
  /** What the caller should know about the options, in sentences. */
  readonly warnings: readonly string[];
  readonly signal: AbortSignal | undefined;
}
