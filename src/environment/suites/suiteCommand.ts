import type { SuitePlaces } from "./places.ts";
import type { ReportSource } from "./sources.ts";

/** How to run a suite, and where its report comes from. */
export interface SuiteCommand {
  /** Its name in messages. */
  readonly title: string;
  readonly program: string;
  readonly args: readonly string[];
  /** The directory in which the program starts, if it is not the suite's. */
  readonly startIn?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Files for the runner, by their names in `reports`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Without one, the exit code is the result. */
  readonly source?: ReportSource;
  /** A file in the worktree or in the scratch directory that only this run of the suite uses. */
  readonly reportFile?: string;
  /** The exit codes of a run that finished; left out if any code may mean that. */
  readonly exitCodes?: readonly number[];
  /** What to check if it does not work. */
  readonly remedy: string;
}

/** The directories of a suite, and one for its report with a random name. */
export interface CommandPlaces extends SuitePlaces {
  readonly reports: string;
  readonly path: string | undefined;
}
