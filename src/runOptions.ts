import type { AgentProvider } from "./agents/contract.ts";
import type { LoggingOption } from "./display/logging.ts";
import type { EnvVars } from "./envVars.ts";
import type { BranchStrategy, WorktreeBranchStrategy } from "./git/branchStrategy.ts";
import type { Hooks } from "./hooks.ts";
import type { OutputDefinition } from "./output.ts";
import type { PromptArgs } from "./prompt/resolvePrompt.ts";
import type { IsolatedSandboxProvider, SandboxProvider } from "./sandboxes/contract.ts";

/** A prompt is given as text or as a file, never both. */
export type PromptOption =
  | {
      /** The prompt itself: handed to the agent as it is, nothing in it is interpreted. */
      readonly prompt: string;
      readonly promptFile?: never;
      readonly promptArgs?: never;
    }
  | {
      readonly prompt?: never;
      /**
       * A file that holds a prompt template: `{{KEY}}` is filled in from `promptArgs`, and `` !`command` `` is replaced
       * by what the command prints in the sandbox. A relative path is resolved against `process.cwd()`.
       */
      readonly promptFile: string;
      /** `SOURCE_BRANCH` and `TARGET_BRANCH` are built in. Values are text: nothing in them is interpreted. */
      readonly promptArgs?: PromptArgs;
    };

/** Which branch strategies a sandbox provider can do. */
export type BranchStrategyFor<Sandbox extends SandboxProvider> = Sandbox extends IsolatedSandboxProvider
  ? WorktreeBranchStrategy
  : BranchStrategy;

export type RunOptions<Sandbox extends SandboxProvider = SandboxProvider, Value = unknown> = PromptOption & {
  readonly agent: AgentProvider;
  readonly sandbox: Sandbox;
  /** Stands before every line that is shown of this run, so that parallel runs can be told apart. */
  readonly name?: string;
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
  /** Commands that prepare the worktree and the sandbox. */
  readonly hooks?: Hooks;
  /** Env vars in the sandbox. They win over those of `.sanddune/.env`, of the agent and of the sandbox provider. */
  readonly env?: EnvVars;
  /** How the run is shown while it goes on; `{ type: "file" }` when it is left out. */
  readonly logging?: LoggingOption;
  /** What the agent is to say in a tag of its text; see `Output`. */
  readonly output?: OutputDefinition<Value>;
  readonly timeouts?: {
    /** 60 000 when it is left out. */
    readonly copyToWorktreeMs?: number;
    /** Of each shell expression of a prompt template; 30 000 when it is left out. */
    readonly promptExpansionMs?: number;
  };
  /** Aborting kills the agent, brings its commits home, keeps the worktree, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
};
