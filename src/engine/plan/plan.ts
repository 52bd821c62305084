import type { HostSessionFile } from "../../agentSessions/hostSessions.ts";
import type { SessionKind } from "../../display/contract.ts";
import type { ResolvedEnv } from "../../envVars/envValues.ts";
import type { HostState } from "../../git/hostState.ts";
import type { Repository } from "../../git/repository.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import type { HostHook, SandboxHook } from "../../options/hooks.ts";
import type { SandboxInteractiveOptions } from "../../options/interactiveOptions.ts";
import type { LoggingOption } from "../../options/logging.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import type { InteractiveSandboxProvider } from "../../sandboxes/contract.ts";
import type { EnvironmentPlan } from "../environment/planEnvironment.ts";

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

/** What the agent is to do: the options of the call, and what was looked up for them. */
export interface AgentPlan {
  readonly options: AgentSettings;
  readonly prompt: ResolvedPrompt;
  readonly resume: ResumePlan | undefined;
}

/** What the agent starts with in an interactive session. */
export interface InteractionPlan {
  readonly options: SandboxInteractiveOptions;
  /** `undefined` if the person at the terminal begins. */
  readonly prompt: ResolvedPrompt | undefined;
}
