import type { AgentProvider, McpServers } from "../agents/contract.ts";
import type { IsolatedSandboxProvider, SandboxProvider } from "../sandboxes/contract.ts";
import type { BranchStrategy, WorktreeBranchStrategy } from "./branchStrategy.ts";
import type { EnvVars } from "./envVars.ts";
import type { Hooks, SandboxHooks, SetupCacheOption } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { OutputDefinition } from "./output.ts";
import type { PromptArgs } from "./promptArgs.ts";
import type { TokenPrices } from "./usage.ts";

/** The prompt: either text or a file. */
export type PromptOption =
  | {
      /** The text of the prompt. It is passed to the agent unchanged. */
      readonly prompt: string;
      readonly promptFile?: never;
      readonly promptArgs?: never;
    }
  | {
      readonly prompt?: never;
      /**
       * A file with a prompt template. `{{KEY}}` is replaced by the prompt argument `KEY`, and `` !`command` `` by the
       * output of the command in the sandbox. A relative path is resolved against `process.cwd()`.
       */
      readonly promptFile: string;
      /** Values for the placeholders of the template, inserted as plain text. `SOURCE_BRANCH` and `TARGET_BRANCH` are built in. */
      readonly promptArgs?: PromptArgs;
    };

/** The branch strategies that a sandbox provider supports. */
export type BranchStrategyFor<Sandbox extends SandboxProvider> = Sandbox extends IsolatedSandboxProvider
  ? WorktreeBranchStrategy
  : BranchStrategy;

/** Options that all sessions have in common. */
export interface SessionOptions {
  /** A prefix for each line that is shown of this session, to distinguish parallel sessions. */
  readonly name?: string;
  /** Env vars in the sandbox. They take precedence over those of `.sanddune/.env`, the agent and the sandbox provider. */
  readonly env?: EnvVars;
  /** Aborting it kills the agent, imports its commits, keeps the worktree, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/** Options of calls that make a checkout. */
export interface CheckoutOptions {
  /** The repository, or a directory in it where the agent starts. Default: `process.cwd()`, which also resolves a relative path. */
  readonly cwd?: string;
  /** Untracked files and directories to copy into the worktree, relative to `cwd`. */
  readonly copyToWorktree?: readonly string[];
  /** Time limits of single steps. */
  readonly timeouts?: {
    /** Default: 60,000. */
    readonly copyToWorktreeMs?: number;
  };
}

/** Options for resuming an agent session of this machine. */
export interface ResumeOptions {
  /** The id of the session, from `iterations` of an earlier result. The run has only one iteration then. */
  readonly resumeSession?: string;
  /** Continue in a copy of the session. The session itself does not change. */
  readonly forkSession?: boolean;
}

/** An environment: tests of the agent's work, which the agent can run itself. Its folder, or more settings. */
export type EnvironmentOption =
  | string
  | {
      /**
       * The environment's folder. A relative path is resolved against `process.cwd()`. A folder in the repository is read
       * from the commit that is checked out.
       */
      readonly path: string;
      /**
       * Where the tests run that the agent asks for. `shared`: in the agent's sandbox, on its files. `strict`: in a separate
       * sandbox, on a copy of the agent's commits, so that the agent cannot see the tests. Default: `shared` for bind-mount
       * sandboxes, `strict` for isolated ones. The tests after an iteration always run in a separate sandbox.
       */
      readonly isolation?: "shared" | "strict";
      /** How long the set-up and the start of the test server may take. Default: 300,000. */
      readonly startTimeoutMs?: number;
    };

/** Options of calls that make a sandbox. */
export interface EnvironmentOptions {
  /** Tests of the agent's work, which the agent can run itself. */
  readonly environment?: EnvironmentOption;
}

/** What to record of a run. */
export type TrajectoryOption =
  | true
  | {
      /**
       * Globs of files to copy out of the sandbox after the last iteration, relative to the worktree. They also match
       * files that git ignores. `*` and `?` match within a name, `**` matches any number of directories.
       */
      readonly artifacts?: readonly string[];
    };

/** Options of all calls that run an agent. */
export type AgentOptions<Value> = PromptOption &
  SessionOptions & {
    /** The agent that works on the prompt. */
    readonly agent: AgentProvider;
    /** How often the agent is invoked at most. Default: 1. */
    readonly maxIterations?: number;
    /** Text in the agent's output that ends the loop. sanddune does not add it to the prompt. Default: `<promise>COMPLETE</promise>`. */
    readonly completionSignal?: string | readonly string[];
    /** How long the agent may print nothing before it is stopped. Default: 600. */
    readonly idleTimeoutSeconds?: number;
    /** How long the agent's processes may keep running after it reported the end of its turn. Default: 30,000. */
    readonly completionTimeoutMs?: number;
    /** How the run is shown while it runs. Default: `{ type: "file" }`. */
    readonly logging?: LoggingOption;
    /** Stops the run when it has used more tokens of all kinds than this. Commits are kept. */
    readonly maxTokens?: number;
    /** Stops the run when it has cost more US dollars than this, by `prices`. Commits are kept. */
    readonly maxCostUsd?: number;
    /** What tokens cost. Required with `maxCostUsd`. */
    readonly prices?: TokenPrices;
    /**
     * What to do when the model's rate limit is reached: fail, or wait until it ends and continue with the same session.
     * `waitUpToMs` limits all waits of the run together. Default: `"fail"`.
     */
    readonly onRateLimit?: "fail" | { readonly waitUpToMs: number };
    /** MCP servers with additional tools for the agent. */
    readonly mcpServers?: McpServers;
    /**
     * Repeat until all tests of the environment pass after an iteration, whatever the agent says, but at most
     * `maxIterations` times. If they still fail, the run is unsolved: `solved` is false, and nothing is merged.
     */
    readonly until?: "tests-pass";
    /** Records the agent's actions and the files after each of them. `sanddune replay` shows the recording. */
    readonly trajectory?: TrajectoryOption;
    /** The structured output that the agent writes into a tag of its text; see `Output`. */
    readonly output?: OutputDefinition<Value>;
    /** Time limits of single steps. */
    readonly timeouts?: {
      /** For each shell expression of a prompt template. Default: 30,000. */
      readonly promptExpansionMs?: number;
    };
  };

/** The options of `run()`. */
export type RunOptions<
  Sandbox extends SandboxProvider = SandboxProvider,
  Value = unknown,
> = AgentOptions<Value> &
  CheckoutOptions &
  EnvironmentOptions &
  SetupCacheOption &
  ResumeOptions & {
    /** Where the agent works. */
    readonly sandbox: Sandbox;
    /** Where the agent works, and where its commits end up. Default: `head` for bind-mount sandboxes, `merge-to-head` for isolated ones. */
    readonly branchStrategy?: BranchStrategyFor<Sandbox>;
    /** Commands that prepare the worktree and the sandbox. */
    readonly hooks?: Hooks;
  };

/** The options of `sandbox.run()`. The sandbox and its worktree exist already. */
export type SandboxRunOptions<Value = unknown> = AgentOptions<Value> & {
  /** Not possible: a run in an existing sandbox always starts a new agent session. */
  readonly resumeSession?: never;
  readonly forkSession?: never;
};

/** The options of `worktree.run()`. The worktree exists already, and the sandbox is created for this run. */
export type WorktreeRunOptions<Value = unknown> = AgentOptions<Value> &
  EnvironmentOptions &
  SetupCacheOption &
  ResumeOptions & {
    /** Where the agent works. */
    readonly sandbox: SandboxProvider;
    /** Commands that prepare the sandbox. */
    readonly hooks?: SandboxHooks;
  };
