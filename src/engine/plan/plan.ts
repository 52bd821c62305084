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
import type { InteractiveSandboxProvider, SandboxProvider } from "../../sandboxes/contract.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import type { EnvironmentPlan } from "../environment/planEnvironment.ts";

/** The decisions about a session before anything is created. Checkout, sandbox and agent have their own plans. */
export interface SessionPlan {
  readonly runId: string;
  readonly kind: SessionKind;
  /** When the entry point was called, by the monotonic clock. */
  readonly startedAt: number;
  readonly name: string | undefined;
  readonly repository: Repository;
  readonly host: HostState;
  readonly branches: BranchPlan;
  /** The user's uncommitted files in the checkout, if the agent works there. */
  readonly userChanges: readonly string[];
  readonly env: ResolvedEnv;
  readonly logging: LoggingOption;
  /** The names of the agent provider and the sandbox provider, if the session has them. */
  readonly agentName: string | undefined;
  readonly sandboxName: string | undefined;
  /** The run id of the parent session. */
  readonly within: string | undefined;
  /** Warnings about the options. */
  readonly warnings: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** The branch to work on. */
export interface SourcePlan {
  readonly branch: string;
  /** The commit, branch or tag that it starts from if it does not exist. */
  readonly from: string;
}

/** How to create the checkout. */
export interface CheckoutPlan {
  /** The branch of the worktree; `undefined` with `head`, where the agent works in the user's checkout. */
  readonly source: SourcePlan | undefined;
  /** The agent works in the user's checkout with the user's own git, so the checkout is not locked. */
  readonly isShared: boolean;
  /** It outlives the call that creates it: users may work in it, and merge its branch, between calls. */
  readonly lasts: boolean;
  /**
   * Asks the sandbox provider why it cannot mount an overlay. `undefined` if the files must be on the host, or if the provider
   * knows no overlays.
   */
  readonly overlayProblem: ((directory: string) => Promise<string | undefined>) | undefined;
  /** An overlay of the provider can have the files of a kept set-up as a layer. */
  readonly stacksLayers: boolean;
  /** The sandbox whose first hooks may have a kept set-up; `undefined` if it is chosen later. */
  readonly setup: Pick<SandboxPlan<SandboxProvider>, "provider" | "usesSudo" | "setup"> | undefined;
  readonly copyToWorktree: readonly string[];
  readonly copyToWorktreeMs: number;
  readonly onWorktreeReady: readonly HostHook[];
  /** The checkout whose files a new worktree gets, for a fork; left out if git writes them. */
  readonly copyOf?: CheckoutSession;
}

/** The first hooks of a sandbox, all with `cache`: their result is kept as one. */
export interface SetupPlan {
  readonly hooks: readonly SandboxHook[];
  /** Relative to the directory where the hooks run. */
  readonly keyFiles: readonly string[];
}

/** How to create the sandbox. */
export interface SandboxPlan<Provider = InteractiveSandboxProvider> {
  readonly provider: Provider;
  readonly hooks: {
    readonly "host.onSandboxReady": readonly HostHook[];
    readonly "sandbox.onSandboxReady": readonly SandboxHook[];
  };
  /** `undefined` if all hooks run in each sandbox. */
  readonly setup: SetupPlan | undefined;
  /** A hook in the sandbox runs as root. */
  readonly usesSudo: boolean;
  /** Tests of the work in it. */
  readonly environment: EnvironmentPlan | undefined;
}

/** The agent session that a run resumes. */
export interface ResumePlan {
  readonly sessionId: string;
  /** The run continues in a copy of the session. */
  readonly isFork: boolean;
  readonly files: readonly HostSessionFile[];
}

/** What the agent does: the options of the call, and the data that was looked up for them. */
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
