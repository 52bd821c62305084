import type { SuitePlaces } from "./places.ts";
import type { ReportSource } from "./sources.ts";

/** How a suite is run, and how its results are learned. */
export interface SuiteCommand {
  /** What it is called where it is told of. */
  readonly title: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Where the program is started, if that is not where the suite runs. */
  readonly startIn?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files that the runner needs, by their names in `reports`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Without one, the exit code is all there is. */
  readonly source?: ReportSource;
  /** A file of the worktree's, or of the scratch directory, that belongs to this run of the suite alone. */
  readonly reportFile?: string;
  /** The exit codes of a run that came to its end; any, if that cannot be known. */
  readonly exitCodes?: readonly number[];
  /** What to do if it does not work. */
  readonly remedy: string;
}

/** Where a suite runs, and a directory for its report that nobody else knows. */
export interface CommandPlaces extends SuitePlaces {
  readonly reports: string;
  readonly path: string | undefined;
}
