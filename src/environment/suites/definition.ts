export const SUITE_RUNNERS = ["vitest", "node", "pytest", "go"] as const;
export const SUITE_FORMATS = ["junit", "tap", "exit-code"] as const;

/** How a report's path begins if it is not in the worktree. */
export const SCRATCH_PREFIX = "{scratch}/";

interface SuitePlace {
  /** Where it runs, relative to the worktree and inside it; the worktree itself when it is left out. */
  readonly cwd?: string;
  /** For the whole suite. */
  readonly timeoutMs?: number;
}

/** A suite of a runner that sanddune knows how to call. */
export interface RunnerSuite extends SuitePlace {
  readonly runner: (typeof SUITE_RUNNERS)[number];
  /**
   * More arguments of the runner's. `{environment}`, `{worktree}` and `{scratch}` in them stand for directories. Those of
   * `go` replace `./...`, the packages that are tested otherwise.
   */
  readonly args?: readonly string[];
  /**
   * Of vitest, for tests that are the work's own: uses the vitest that is installed in the work. What it tells is the work's word.
   * Without it, a runner comes from the environment or the image.
   */
  readonly runnerFrom?: "worktree";
}

/** A suite behind any other command. */
export interface CommandSuite extends SuitePlace {
  /** A line for `sh`. SANDDUNE_ENVIRONMENT, SANDDUNE_WORKTREE and SANDDUNE_SCRATCH are in its environment. */
  readonly command: string;
  /** What it says of its tests. With `exit-code`, the command is a single test. */
  readonly format: (typeof SUITE_FORMATS)[number];
  /**
   * The file that the command writes its report to, relative to `cwd`, or below `{scratch}`. It is removed before and
   * after: an old report is nobody's result. Without one, the report is what the command prints.
   */
  readonly report?: string;
}

/** What `suite()` gets. */
export type SuiteDefinition = RunnerSuite | CommandSuite;
