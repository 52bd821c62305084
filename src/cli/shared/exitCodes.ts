import { ProjectConfigError, ReportFileError, ScenarioExistsError } from "../../errors/commandErrors.ts";
import {
  CancelledError,
  EnvOverlapError,
  InvalidBranchNameError,
  InvalidOptionsError,
  InvalidTaskError,
  MissingPromptArgumentError,
  ScenarioConfigError,
} from "../../errors.ts";
import { StoppedError } from "./stopSignals.ts";
import { UsageError } from "./usageError.ts";

export const EXIT_SUCCESS = 0;
export const EXIT_RUN_FAILED = 1;
export const EXIT_BAD_USAGE = 2;
/** The run ended in order, but its tests do not all pass. */
export const EXIT_UNSOLVED = 3;
/** As if Ctrl-C had ended the process, which is how most people cancel a question. */
const EXIT_CANCELLED = 130;

const BAD_USAGE = [
  UsageError,
  InvalidOptionsError,
  InvalidTaskError,
  InvalidBranchNameError,
  MissingPromptArgumentError,
  EnvOverlapError,
  ProjectConfigError,
  ScenarioConfigError,
  ScenarioExistsError,
  ReportFileError,
];

/** The exit code for an error: 2 for a bad command line, 1 for a failed run, 128 + n for signal n. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof StoppedError) return error.exitCode;
  if (error instanceof CancelledError) return EXIT_CANCELLED;
  const isBadUsage = BAD_USAGE.some((badUsage) => error instanceof badUsage);
  return isBadUsage ? EXIT_BAD_USAGE : EXIT_RUN_FAILED;
};
