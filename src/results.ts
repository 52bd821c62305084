/** A commit that the run made, by its full object name. */
export interface Commit {
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
  readonly sessionId?: string;
  readonly sessionFilePath?: string;
  readonly usage?: IterationUsage;
}

/** What `run()` resolves with; `Value` is the type of `output`. */
export interface RunResult<Value = unknown> {
  /** Names the run in `.sanddune/runs/`, in container labels and in refs. */
  readonly runId: string;
  /** One entry for each iteration; its length is the iteration count. */
  readonly iterations: IterationResult[];
  /** The completion signal that the agent printed, if it printed one. */
  readonly completionSignal?: string;
  /** What the agent said in the tag of the `output` option; `undefined` without that option. */
  readonly output: Value;
  /** The end of what the agent said: at most the last mebibyte of its text. */
  readonly stdout: string;
  /** The run's own commits, oldest first. */
  readonly commits: Commit[];
  /** The branch that holds the commits; `HEAD` when the host repository's HEAD is detached. */
  readonly branch: string;
  /** The run log; set in log-to-file mode only. */
  readonly logFilePath?: string;
  /** Set when the worktree was kept because it has uncommitted changes. */
  readonly preservedWorktreePath?: string;
  /** Changed files that run by themselves on a developer's machine (git hooks, editor tasks, CI workflows, ...). */
  readonly protectedPaths: string[];
  /** What went differently than a caller would expect, in sentences. */
  readonly warnings: string[];
}
