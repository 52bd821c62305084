import type { HostSessionFile } from "../../agentSessions/hostSessions.ts";
import type { AgentProvider, McpServers } from "../../agents/contract.ts";
import type { SessionKind } from "../../display/contract.ts";
import type { ResolvedEnv } from "../../envVars/envValues.ts";
import type { HostState } from "../../git/hostState.ts";
import type { Repository } from "../../git/repository.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import type { HostHook, SandboxHook } from "../../options/hooks.ts";
import type { LoggingOption } from "../../options/logging.ts";
import type { OutputDefinition } from "../../options/output.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import type { InteractiveSandboxProvider } from "../../sandboxes/contract.ts";
import type { TrajectoryPlan } from "../../trajectory/record/recorder.ts";
import type { EnvironmentPlan } from "../environment/planEnvironment.ts";
import type { BudgetLimits } from "../iterations/budget.ts";

/** Everything that is decided about a session before anything is created; what it does is in plans of their own. */
export interface SessionPlan {
  readonly runId: string;
  readonly kind: SessionKind;
  /** When the door was called, by the monotonic clock. */
  readonly startedAt: number;
  readonly name: string | undefined;
  readonly repository: Repository;
  readonly host: HostState;
  readonly branches: BranchPlan;
  /** What the user has not committed in the checkout, if the agent works there. */
  readonly userChanges: readonly string[];
  readonly env: ResolvedEnv;
  readonly logging: LoggingOption;
  /** The names of the agent provider and of the sandbox provider, if the session has any. */
  readonly agentName: string | undefined;
  readonly sandboxName: string | undefined;
  /** The session that owns the worktree or the sandbox which this one works in. */
  readonly within: string | undefined;
  /** What the caller should know about the options, in sentences. */
  readonly warnings: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** A branch to work on. */
export interface SourcePlan {
  readonly branch: string;
  /** Where it starts if it does not exist. */
  readonly from: string;
}

/** How the checkout is made. */
export interface CheckoutPlan {
  /** The branch that the agent works on, in a worktree; with `head` it works in the user's own checkout. */
  readonly source: SourcePlan | undefined;
  /** The agent works in the user's checkout as the user would, with the user's own git: nobody else is kept out. */
  readonly isShared: boolean;
  /** It goes on after the call that makes it: users may work in it, and merge its branch, between the calls. */
  readonly lasts: boolean;
  readonly copyToWorktree: readonly string[];
  readonly copyToWorktreeMs: number;
  readonly onWorktreeReady: readonly HostHook[];
}

/** How the sandbox is made. */
export interface SandboxPlan<Provider = InteractiveSandboxProvider> {
  readonly provider: Provider;
  readonly hooks: {
    readonly "host.onSandboxReady": readonly HostHook[];
    readonly "sandbox.onSandboxReady": readonly SandboxHook[];
  };
  /** Some hook in the sandbox runs as root. */
  readonly usesSudo: boolean;
  /** Tests of what is done in it. */
  readonly environment: EnvironmentPlan | undefined;
}

/** A session of the agent's that a run goes on with. */
export interface ResumePlan {
  readonly sessionId: string;
  /** It goes on in a copy. */
  readonly isFork: boolean;
  readonly files: readonly HostSessionFile[];
}

/** What the agent is to do, in as many iterations as it takes. */
export interface AgentPlan {
  readonly agent: AgentProvider;
  readonly prompt: ResolvedPrompt;
  readonly promptExpansionMs: number;
  readonly output: OutputDefinition | undefined;
  readonly maxIterations: number;
  /** The environment's tests decide when it is done, and not the agent. */
  readonly untilTestsPass: boolean;
  readonly completionSignals: readonly string[];
  readonly idleTimeoutMs: number;
  readonly completionTimeoutMs: number;
  readonly resume: ResumePlan | undefined;
  readonly mcpServers: McpServers | undefined;
  readonly budget: BudgetLimits;
  /** How long to wait, in all, for rate limits to end. */
  readonly rateLimitWaitMs: number;
  readonly trajectory: TrajectoryPlan | undefined;
}

/** What the agent is to begin with, when a person talks to it. */
export interface InteractionPlan {
  readonly agent: AgentProvider;
  /** `undefined` if the person is to begin. */
  readonly prompt: ResolvedPrompt | undefined;
  readonly promptExpansionMs: number;
}
