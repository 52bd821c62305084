import type { TestResults } from "../environment/contract.ts";

/** A commit that the run made, by its full object name. */
export interface Commit {
  readonly sha: string;
}

/** A ref of the host that holds what the agent has left anywhere but on the source branch. */
export interface KeptRef {
  /** In the host repository: `refs/sanddune/runs/…`. */
  readonly ref: string;
  /** How it was called in the sandbox: `refs/heads/feature`, for one. */
  readonly name: string;
  readonly sha: string;
}

/** Tokens of one iteration, summed over all its model calls. */
export interface IterationUsage {
  readonly inputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly outputTokens: number;
}

/** One invocation of the agent. */
export interface IterationResult {
  /** What the agent calls its session. */
  readonly sessionId?: string;
  /** The session on the host, where the agent's own resume finds it; not set if it was not captured. */
  readonly sessionFilePath?: string;
  /** Not set if the agent does not tell. */
  readonly usage?: IterationUsage;
  /** How many lines of the agent's output were not understood; not set if all were. */
  readonly unknownLines?: number;
  /** What came of the environment's tests after it; not set without an environment. */
  readonly tests?: TestResults;
}

/** A file that was copied out of the sandbox. */
export interface Artifact {
  /** Relative to the worktree. */
  readonly path: string;
  /** The copy, in the directory of the run. */
  readonly hostPath: string;
  readonly bytes: number;
}

/** What `sandbox.run()` resolves with; `Value` is the type of `output`. */
export interface SandboxRunResult<Value = unknown> {
  /** Names the run in `.sanddune/runs/`, in container labels and in refs. */
  readonly runId: string;
  /** One entry for each iteration; its length is the iteration count. */
  readonly iterations: IterationResult[];
  /** Tokens of all iterations; not set if the agent does not tell. */
  readonly usage?: IterationUsage;
  /** The completion signal that the agent printed, if it printed one. */
  readonly completionSignal?: string;
  /**
   * With `until`: whether all tests of the environment passed after the last iteration. If not, the run is unsolved, and
   * merge-to-head has not merged it. Not set without `until`.
   */
  readonly solved?: boolean;
  /** What the agent said in the tag of the `output` option; `undefined` without that option. */
  readonly output: Value;
  /** The end of what the agent said: at most the last mebibyte of its text. */
  readonly stdout: string;
  /** The run's own commits, oldest first. */
  readonly commits: Commit[];
  /** The branch that holds the commits; `HEAD` when the host repository's HEAD is detached. */
  readonly branch: string;
  /** Where commits are that the agent has made anywhere but on the source branch; set if there are any. */
  readonly keptRefs?: readonly KeptRef[];
  /** The run log, which is written in every display mode. */
  readonly logFilePath: string;
  /** Set when the worktree was kept because it has uncommitted changes. */
  readonly preservedWorktreePath?: string;
  /** What was recorded of the run; set with the `trajectory` option only. */
  readonly trajectoryPath?: string;
  /** Files that were copied out of the sandbox; set if there are globs for them. */
  readonly artifacts?: readonly Artifact[];
  /**
   * Changed files that run by themselves on a developer's machine (git hooks, editor tasks, CI workflows, ...) or belong
   * to the environment, and directories that git takes for repositories.
   */
  readonly protectedPaths: string[];
  /**
   * Files of your checkout that were changed or untracked when the run began, and that its commits contain. Set with the
   * `head` strategy only, if there are any.
   */
  readonly committedUserPaths?: string[];
  /** What went differently than a caller would expect, in sentences. */
  readonly warnings: string[];
}

/** What may be different when a run is gone on with. */
export interface ContinueOptions {
  /** Stands before every line that is shown of the run. */
  readonly name?: string;
  /** Aborts the run, as the option of `run()` does. */
  readonly signal?: AbortSignal;
}

/** What `run()` resolves with; `Value` is the type of `output`. */
export interface RunResult<Value = unknown> extends SandboxRunResult<Value> {
  /**
   * Goes on with the agent's session of the last iteration: another run with the same options, of one iteration, with
   * this prompt. Rejects if that session was not captured.
   */
  resume(prompt: string, options?: ContinueOptions): Promise<RunResult<Value>>;
  /** As `resume()`, but in a copy of the session, which stays as it is. */
  fork(prompt: string, options?: ContinueOptions): Promise<RunResult<Value>>;
}

/** What `interactive()` resolves with when the person has left the agent. */
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
  /** Of the agent's program; 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** What the agent calls its session; set if it was captured from a sandbox. */
  readonly sessionId?: string;
  /** The session on the host, where the agent's own resume finds it. */
  readonly sessionFilePath?: string;
}

/** What a run had reached when it was aborted; a session at the terminal and a command, too. */
export interface AbortedRun extends Omit<SandboxRunResult, "completionSignal" | "output" | "stdout"> {
  /** As in its options. */
  readonly name?: string;
  /** The iteration that was stopped: its session can be resumed, too. */
  readonly failedIteration?: IterationResult;
}

/** What `sandbox.exec()` resolves with, whatever the exit code. */
export interface SandboxExecResult {
  /** The end of what was printed: at most `captureBytes`, a mebibyte when that is left out. `onLine` gets all of it. */
  readonly stdout: string;
  readonly stderr: string;
  /** 128 + n when signal n ended the command. */
  readonly exitCode: number;
  /** What the command has committed: it is on the branch already. */
  readonly commits: Commit[];
  /** As in `RunResult`. */
  readonly keptRefs?: readonly KeptRef[];
  /** As in `RunResult`. */
  readonly protectedPaths: string[];
  readonly warnings: string[];
}

/** What closing a sandbox or a worktree resolves with. */
export interface CloseResult {
  /** Everything that was committed in it and is on the branch, oldest first: by calls, and by what they had left running. */
  readonly commits: Commit[];
  /** Set when the worktree was kept, because it has uncommitted changes or holds work that could not be imported. */
  readonly preservedWorktreePath?: string;
  /** What went differently than a caller would expect, in sentences. */
  readonly warnings: string[];
}
