import type { TestResult } from "../contract.ts";
import { readableTail } from "./readable.ts";
import type { SuiteReport } from "./report.ts";

/** The results of a suite. The paths of its tests are relative to it. */
export interface SuiteResults {
  readonly tests: readonly TestResult[];
  /** Why results are missing; `null` if none are. */
  readonly error: string | null;
}

/** How the process of a suite ended. */
export interface SuiteEnd {
  readonly title: string;
  readonly exitCode: number;
  /** The end of its output. */
  readonly output: string;
  readonly exitCodes?: readonly number[];
  readonly remedy: string;
}

/** Sentences, followed by the end of the output. */
export const withOutput = (words: string, output: string): string => {
  const shown = readableTail(output);
  return shown === "" ? words : `${words}\nIts output ends with:\n${shown.replace(/^/gm, "  ")}`;
};

const problemOf = ({ tests, skipped, problem }: SuiteReport, end: SuiteEnd): string | undefined => {
  const { title, exitCode, exitCodes, remedy } = end;
  const ended = `ended with exit code ${exitCode}`;
  if (problem !== undefined) return `The report of the suite ${problem}. ${title} ${ended}. ${remedy}`;
  if (tests.length === 0) {
    return skipped > 0
      ? `No test of the suite has run: all ${skipped} are skipped. ${title} ${ended}.`
      : `The suite has no tests. ${title} ${ended}. ${remedy}`;
  }
  const allPassed = tests.every(({ passed }) => passed);
  if (exitCode !== 0 && allPassed) {
    return `All reported tests passed, but something else failed. ${title} ${ended}.`;
  }
  if (exitCodes !== undefined && !exitCodes.includes(exitCode)) {
    return `${title} ${ended}: it did not finish, and some tests may not have run.`;
  }
  return undefined;
};

/** The reported results of a suite, with the reason if they cannot be trusted. */
export const judge = (report: SuiteReport | string, end: SuiteEnd): SuiteResults => {
  if (typeof report === "string") {
    const words = `There are no results. ${report} ${end.title} ended with exit code ${end.exitCode}. ${end.remedy}`;
    return { tests: [], error: withOutput(words, end.output) };
  }
  const problem = problemOf(report, end);
  return { tests: report.tests, error: problem === undefined ? null : withOutput(problem, end.output) };
};

/** The path of the only test of a suite with the format `exit-code`. */
const EXIT_CODE_PATH = "exit-code";

/** The results of a command that is a single test. */
export const exitCodeResult = (passed: boolean, milliseconds: number, message: string): SuiteResults => {
  const test = { path: EXIT_CODE_PATH, passed, durationMs: Math.round(milliseconds) };
  return { tests: [passed ? test : { ...test, message }], error: null };
};
