import type { TestResults } from "../environment/contract.ts";

/** A commit that the run made. */
export interface Commit {
  /** The full object name. */
  readonly sha: string;
}

/** A ref in the host repository that keeps commits which the agent did not put on the source branch. */
export interface KeptRef {
  /** The ref in the host repository: `refs/sanddune/runs/…`. */
  readonly ref: string;
  /** The ref in the sandbox, for example `refs/heads/feature`. */
  readonly name: string;
  readonly sha: string;
}

/** The tokens that one iteration used in all its model calls. */
export interface IterationUsage {
  readonly inputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly outputTokens: number;
}

/** One invocation of the agent. */
export interface IterationResult {
  /** The id of the agent session. */
  readonly sessionId?: string;
  /** The captured agent session on the host, where the agent's own resume command finds it. Not set if it was not captured. */
  readonly sessionFilePath?: string;
  /** Not set if the agent does not report it. */
  readonly usage?: IterationUsage;
  /** How many lines of the agent's output were not recognised. Not set if there were none. */
  readonly unknownLines?: number;
  /** The results of the environment's tests after this iteration. Not set without an environment. */
  readonly tests?: TestResults;
}

/** A file that was copied out of the sandbox. */
export interface Artifact {
  /** The path in the sandbox, relative to the worktree. */
  readonly path: string;
  /** The path of the copy on the host. */
  readonly hostPath: string;
  readonly bytes: number;
}

/**
 * How the files that the agent works on were made: as an overlay over a checkout that several runs share, as a worktree of their
 * own, or not at all with the strategy `head`, where they are the user's.
 */
export type CheckoutKind = "overlay" | "worktree" | "head";

/** The result of `sandbox.run()`. `Value` is the type of `output`. */
export interface SandboxRunResult<Value = unknown> {
  /** The id of the run in `.sanddune/runs/`, in container labels and in refs. */
  readonly runId: string;
  /** One entry for each iteration. */
  readonly iterations: IterationResult[];
  /** The tokens of all iterations. Not set if the agent does not report them. */
  readonly usage?: IterationUsage;
  /** The completion signal that the agent printed, if it printed one. */
  readonly completionSignal?: string;
  /**
   * Whether all tests of the environment passed after the last iteration. If not, the run is unsolved, and
   * merge-to-head did not merge it. Set only with `until`.
   */
  readonly solved?: boolean;
  /** The structured output of the agent. `undefined` without the `output` option. */
  readonly output: Value;
  /** The agent's text: at most its last mebibyte. */
  readonly stdout: string;
  /** The commits that this run made, oldest first. */
  readonly commits: Commit[];
  /** The branch that has the commits. `HEAD` when the host repository's HEAD is detached. */
  readonly branch: string;
  /** Commits that the agent made outside the source branch, and the refs that keep them. Set if there are any. */
  readonly keptRefs?: readonly KeptRef[];
  /** The run log. */
  readonly logFilePath: string;
  /** How the files of the run's checkout were made. Not set for a call in a checkout that existed before. */
  readonly checkout?: CheckoutKind;
  /** Set when the worktree was kept, for example because it has uncommitted changes. */
  readonly preservedWorktreePath?: string;
  /** The recorded trajectory. Set only with the `trajectory` option. */
  readonly trajectoryPath?: string;
  /** Files that were copied out of the sandbox. Set only with `trajectory.artifacts`. */
  readonly artifacts?: readonly Artifact[];
  /**
   * Paths to review before you use the commits: changed files that run automatically (git hooks, editor tasks, CI
   * workflows, ...), changed files of the environment, and directories that git treats as repositories.
   */
  readonly protectedPaths: string[];
  /**
   * Files that were changed or untracked in your checkout when the run began, and that its commits contain. Set only
   * with the `head` strategy, if there are any.
   */
  readonly committedUserPaths?: string[];
  /** Sentences about anything that a caller might not expect. */
  readonly warnings: string[];
}

/** The options of `resume()` and `fork()`, which otherwise use those of the run. */
export interface ContinueOptions {
  /** A prefix for each line that is shown of the run. */
  readonly name?: string;
  /** Aborts the run, like the same option of `run()`. */
  readonly signal?: AbortSignal;
}

/** The result of `run()`. `Value` is the type of `output`. */
export interface RunResult<Value = unknown> extends SandboxRunResult<Value> {
  /**
   * Resumes the agent session of the last iteration in another run, with this prompt, the same options and one
   * iteration. Rejects if that session was not captured.
   */
  resume(prompt: string, options?: ContinueOptions): Promise<RunResult<Value>>;
  /** Like `resume()`, but continues in a copy of the session. The session itself does not change. */
  fork(prompt: string, options?: ContinueOptions): Promise<RunResult<Value>>;
}

/** The result of `interactive()`, when the person has left the agent. */
export interface InteractiveResult
  extends Pick<
    RunResult,
    | "runId"
    | "commits"
    | "branch"
    | "keptRefs"
    | "logFilePath"
    | "preservedWorktreePath"
    | "protectedPaths"
    | "committedUserPaths"
    | "warnings"
  > {
  /** The exit code of the agent's program; 128 + n if signal n ended it. */
  readonly exitCode: number;
  /** The id of the agent session. Set if it was captured from a sandbox. */
  readonly sessionId?: string;
  /** The captured agent session on the host, where the agent's own resume command finds it. */
  readonly sessionFilePath?: string;
}

/** What an aborted run, interactive session or command had achieved. */
export interface AbortedRun extends Omit<SandboxRunResult, "completionSignal" | "output" | "stdout"> {
  /** The `name` option of the run. */
  readonly name?: string;
  /** The iteration that was stopped. Its agent session can be resumed. */
  readonly failedIteration?: IterationResult;
}

/** The result of `sandbox.exec()`, for any exit code. */
export interface SandboxExecResult {
  /** The end of the output: at most `captureBytes`, by default one mebibyte. `onLine` gets all of it. */
  readonly stdout: string;
  readonly stderr: string;
  /** 128 + n if signal n ended the command. */
  readonly exitCode: number;
  /** The commits that the command made. They are on the branch. */
  readonly commits: Commit[];
  /** As in `RunResult`. */
  readonly keptRefs?: readonly KeptRef[];
  /** As in `RunResult`. */
  readonly protectedPaths: string[];
  readonly warnings: string[];
}

/** The result of closing a sandbox or a worktree. */
export interface CloseResult {
  /** All commits that were made in it and are on the branch, oldest first. */
  readonly commits: Commit[];
  /** Set when the worktree was kept, because it has uncommitted changes or work that could not be imported. */
  readonly preservedWorktreePath?: string;
  /** Sentences about anything that a caller might not expect. */
  readonly warnings: string[];
}
