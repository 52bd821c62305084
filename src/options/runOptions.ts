import type { AgentProvider, McpServers } from "../agents/contract.ts";
import type { IsolatedSandboxProvider, SandboxProvider } from "../sandboxes/contract.ts";
import type { BranchStrategy, WorktreeBranchStrategy } from "./branchStrategy.ts";
import type { EnvVars } from "./envVars.ts";
import type { Hooks, SandboxHooks } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { OutputDefinition } from "./output.ts";
import type { PromptArgs } from "./promptArgs.ts";
import type { TokenPrices } from "./usage.ts";

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

/** What all sessions with an agent have in common. */
export interface SessionOptions {
  /** Stands before every line that is shown of this session, so that parallel ones can be told apart. */
  readonly name?: string;
  /** Env vars in the sandbox. They win over those of `.sanddune/.env`, of the agent and of the sandbox provider. */
  readonly env?: EnvVars;
  /** Aborting kills the agent, brings its commits home, keeps the worktree, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
}

/** How a checkout is made and got ready. */
export interface CheckoutOptions {
  /** The repository to work on, or a directory in it. A relative path is resolved against `process.cwd()`, the default. */
  readonly cwd?: string;
  /** Files and directories that git does not track, copied into the worktree. Relative to `cwd`. */
  readonly copyToWorktree?: readonly string[];
  /** Limits for single steps. */
  readonly timeouts?: {
    /** 60 000 when it is left out. */
    readonly copyToWorktreeMs?: number;
  };
}

/** Resuming an agent session that this machine has. */
export interface ResumeOptions {
  /** The id of the session, as in `iterations` of an earlier run's result. Only one iteration is possible with it. */
  readonly resumeSession?: string;
  /** Go on in a copy of the session, which stays as it is. */
  readonly forkSession?: boolean;
}

/** Tests of what the agent does, which it can run itself: a folder, or more about it. */
export type EnvironmentOption =
  | string
  | {
      /**
       * The environment's folder. A relative path is resolved against `process.cwd()`. One in the repository is read from the
       * commit that is checked out there.
       */
      readonly path: string;
      /**
       * Where tests run that the agent asks for. `shared`: in the agent's sandbox, on its files. `strict`: in a sandbox of their
       * own, on a copy of what the agent has committed, so that the agent does not see them. `shared` for bind-mount sandboxes
       * when it is left out, `strict` for all others. The tests after an iteration always run in a sandbox of their own.
       */
      readonly isolation?: "shared" | "strict";
      /** How long the set-up and the start of the test server may take; 300 000 when it is left out. */
      readonly startTimeoutMs?: number;
    };

/** Options of those who make a sandbox. */
export interface EnvironmentOptions {
  /** Tests of what the agent does, which it can run itself. */
  readonly environment?: EnvironmentOption;
}

/** What is recorded of a run. */
export type TrajectoryOption =
  | true
  | {
      /**
       * Files to be copied out of the sandbox after the last iteration, by globs relative to the worktree: `*` and `?` in
       * a name, `**` for any number of directories. Ignored files, too.
       */
      readonly artifacts?: readonly string[];
    };

/** What the agent is to do, wherever it does it. */
export type AgentOptions<Value> = PromptOption &
  SessionOptions & {
    /** The agent that works on the prompt. */
    readonly agent: AgentProvider;
    /** The most often the agent is invoked; 1 when it is left out. */
    readonly maxIterations?: number;
    /** Text in the agent's output that ends the loop; `<promise>COMPLETE</promise>` when it is left out. Never put into the prompt. */
    readonly completionSignal?: string | readonly string[];
    /** How long the agent may print nothing before it is stopped; 600 when it is left out. */
    readonly idleTimeoutSeconds?: number;
    /** How long the agent's processes may linger once it has said that its turn is over; 30,000 when it is left out. */
    readonly completionTimeoutMs?: number;
    /** How the run is shown while it goes on; `{ type: "file" }` when it is left out. */
    readonly logging?: LoggingOption;
    /** Stops the run once it has used more tokens than this, of all kinds. What was committed is kept. */
    readonly maxTokens?: number;
    /** Stops the run once it has cost more than this by `prices`, in US dollars. What was committed is kept. */
    readonly maxCostUsd?: number;
    /** What tokens cost; needed for `maxCostUsd`. */
    readonly prices?: TokenPrices;
    /**
     * When the model lets the agent do no more for now: fail, or wait for as long as the agent says, but not longer than
     * this in all, and go on with the same session. `"fail"` when it is left out.
     */
    readonly onRateLimit?: "fail" | { readonly waitUpToMs: number };
    /** Tools that the agent is to have besides its own. */
    readonly mcpServers?: McpServers;
    /**
     * Stop when all tests of the environment pass after an iteration, and not before, whatever the agent says; but not after
     * more than `maxIterations`. If they do not pass then, the run is unsolved: `solved` is false, and nothing is merged.
     */
    readonly until?: "tests-pass";
    /** Record what the agent does, with its files after each action: `sanddune replay` shows it. */
    readonly trajectory?: TrajectoryOption;
    /** What the agent is to say in a tag of its text; see `Output`. */
    readonly output?: OutputDefinition<Value>;
    /** Limits for single steps. */
    readonly timeouts?: {
      /** Of each shell expression of a prompt template; 30 000 when it is left out. */
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
  ResumeOptions & {
    /** Where the agent works. */
    readonly sandbox: Sandbox;
    /** Defaults to `head` for bind-mount sandboxes and to `merge-to-head` for isolated ones. */
    readonly branchStrategy?: BranchStrategyFor<Sandbox>;
    /** Commands that prepare the worktree and the sandbox. */
    readonly hooks?: Hooks;
  };

/** The options of `sandbox.run()`: the sandbox and its worktree are there, and ready. */
export type SandboxRunOptions<Value = unknown> = AgentOptions<Value> & {
  /** Refused: a sandbox that lasts does not go on with a session of the agent's, each run in it begins a new one. */
  readonly resumeSession?: never;
  readonly forkSession?: never;
};

/** The options of `worktree.run()`: the worktree is there; the sandbox is made for this run. */
export type WorktreeRunOptions<Value = unknown> = AgentOptions<Value> &
  EnvironmentOptions &
  ResumeOptions & {
    /** Where the agent works. */
    readonly sandbox: SandboxProvider;
    /** Commands that prepare the sandbox. */
    readonly hooks?: SandboxHooks;
  };
