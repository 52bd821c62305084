import {
  ProjectConfigError,
  ReportFileError,
  ScenarioConfigError,
  ScenarioExistsError,
} from "../../errors/commandErrors.ts";
import {
  CancelledError,
  EnvOverlapError,
  InvalidBranchNameError,
  InvalidOptionsError,
  InvalidTaskError,
  MissingPromptArgumentError,
} from "../../errors.ts";
import { StoppedError } from "./stopSignals.ts";
import { UsageError } from "./usageError.ts";

export const EXIT_SUCCESS = 0;
export const EXIT_RUN_FAILED = 1;
export const EXIT_BAD_USAGE = 2;
/** The run worked, but the tests that it was to pass do not all pass. */
export const EXIT_UNSOLVED = 3;
/** As if Ctrl-C had ended the process, which is how most people give up at a question. */
const EXIT_GIVEN_UP = 130;

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

/** What the process ends with: 2 when another command line would help, 1 when the run failed, 128 + n for signal n. */
export const exitCodeOf = (error: unknown): number => {
  if (error instanceof StoppedError) return error.exitCode;
  if (error instanceof CancelledError) return EXIT_GIVEN_UP;
  const isBadUsage = BAD_USAGE.some((badUsage) => error instanceof badUsage);
  return isBadUsage ? EXIT_BAD_USAGE : EXIT_RUN_FAILED;
};
