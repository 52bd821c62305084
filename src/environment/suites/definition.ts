export const SUITE_RUNNERS = ["vitest", "node", "pytest", "go"] as const;
export const SUITE_FORMATS = ["junit", "tap", "exit-code"] as const;

/** The prefix of a report's path that is in the scratch directory instead of the worktree. */
export const SCRATCH_PREFIX = "{scratch}/";

interface SuitePlace {
  /** Its working directory, relative to the worktree and inside it; the worktree itself when it is left out. */
  readonly cwd?: string;
  /** For the whole suite. */
  readonly timeoutMs?: number;
}

/** A suite of a runner that sanddune knows how to call. */
export interface RunnerSuite extends SuitePlace {
  readonly runner: (typeof SUITE_RUNNERS)[number];
  /**
   * More arguments for the runner. `{environment}`, `{worktree}` and `{scratch}` in them stand for directories. For `go` they
   * replace the default, `./...`.
   */
  readonly args?: readonly string[];
  /**
   * For vitest, and for tests that belong to the work: use the vitest that is installed in the work, which could forge the
   * results. Without it, a runner comes from the environment or the image.
   */
  readonly runnerFrom?: "worktree";
}

/** A suite that any other command runs. */
export interface CommandSuite extends SuitePlace {
  /** A line for `sh`. Its env vars SANDDUNE_ENVIRONMENT, SANDDUNE_WORKTREE and SANDDUNE_SCRATCH name directories. */
  readonly command: string;
  /** The format of its report. With `exit-code`, the command is a single test. */
  readonly format: (typeof SUITE_FORMATS)[number];
  /**
   * The file that the command writes its report to, relative to `cwd`, or below `{scratch}`. It is removed before and after the
   * run, so that an old report never counts. Without it, the report is the command's stdout.
   */
  readonly report?: string;
}

/** The argument of `suite()`. */
export type SuiteDefinition = RunnerSuite | CommandSuite;
