import type { AgentProvider } from "./agents/contract.ts";
import type { BranchStrategy, WorktreeBranchStrategy } from "./git/branchStrategy.ts";
import type { IsolatedSandboxProvider, SandboxProvider } from "./sandboxes/contract.ts";

/** A prompt is given as text or as a file, never both. */
export type PromptOption =
  | {
      /** The prompt itself: handed to the agent as it is, nothing in it is interpreted. */
      readonly prompt: string;
      readonly promptFile?: never;
    }
  | {
      readonly prompt?: never;
      /** A file that holds the prompt; a relative path is resolved against `process.cwd()`. */
      readonly promptFile: string;
    };

/** Which branch strategies a sandbox provider can do. */
export type BranchStrategyFor<Sandbox extends SandboxProvider> = Sandbox extends IsolatedSandboxProvider
  ? WorktreeBranchStrategy
  : BranchStrategy;

export type RunOptions<Sandbox extends SandboxProvider = SandboxProvider> = PromptOption & {
  readonly agent: AgentProvider;
  readonly sandbox: Sandbox;
  /** The repository to work on, or a directory in it. A relative path is resolved against `process.cwd()`, the default. */
  readonly cwd?: string;
  /** Defaults to `head` for bind-mount sandboxes and to `merge-to-head` for isolated ones. */
  readonly branchStrategy?: BranchStrategyFor<Sandbox>;
  /** The most often the agent is invoked; 1 when it is left out. */
  readonly maxIterations?: number;
  /** Text of the agent's that ends the loop; `<promise>COMPLETE</promise>` when it is left out. Never put into the prompt. */
  readonly completionSignal?: string | readonly string[];
  /** How long the agent may print nothing before it is stopped; 600 when it is left out. */
  readonly idleTimeoutSeconds?: number;
  /** How long the agent's processes may linger once it has said that its turn is over; 30 when it is left out. */
  readonly completionTimeoutSeconds?: number;
  /** Files and directories that git does not track, copied into the worktree. Relative to `cwd`. */
  readonly copyToWorktree?: readonly string[];
  readonly timeouts?: {
    /** 60 000 when it is left out. */
    readonly copyToWorktreeMs?: number;
  };
  /** Aborting kills the agent, brings its commits home, keeps the worktree, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
};
