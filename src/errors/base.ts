import type { Artifact, Commit, IterationResult, IterationUsage, KeptRef } from "../options/results.ts";

/**
 * Base of all errors that sanddune throws on purpose. Errors of a run session that had begun also carry its results: the
 * commits that were imported, and the work that was kept.
 *
 * @example
 * try {
 *   await run(options);
 * } catch (error) {
 *   if (error instanceof SandduneError) console.error(error.message, error.commits, error.preservedWorktreePath);
 * }
 */
export abstract class SandduneError extends Error {
  /** Identifies the run session; its journal is `.sanddune/runs/<runId>/`. */
  declare runId?: string;
  /** The run's commits that reached the host repository before the failure. */
  declare commits?: Commit[];
  /** The branch that those commits are on. */
  declare branch?: string;
  /** As in `RunResult.keptRefs`. */
  declare keptRefs?: readonly KeptRef[];
  /** Set when the worktree was kept on disk. */
  declare preservedWorktreePath?: string;
  declare logFilePath?: string;
  /** As in `RunResult.trajectoryPath`. */
  declare trajectoryPath?: string;
  /** As in `RunResult.artifacts`. */
  declare artifacts?: readonly Artifact[];
  /** As in `RunResult.warnings`: where work was kept, for example. */
  declare warnings?: string[];
  /** As in `RunResult.protectedPaths`. */
  declare protectedPaths?: string[];
  /** As in `RunResult.committedUserPaths`. */
  declare committedUserPaths?: string[];
  /** The iterations that were finished before the failure. */
  declare iterations?: IterationResult[];
  /** The iteration that failed. Its session can be resumed, too. */
  declare failedIteration?: IterationResult;
  /** As in `RunResult.solved`. */
  declare solved?: boolean;
  /** As in `RunResult.usage`. */
  declare usage?: IterationUsage;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}
