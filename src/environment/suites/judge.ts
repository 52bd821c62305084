import type { TestResult } from "../contract.ts";
import { readableTail } from "./readable.ts";
import type { SuiteReport } from "./report.ts";

/** What came of a suite. Paths of its tests are relative to it. */
export interface SuiteResults {
  readonly tests: readonly TestResult[];
  /** Why there are no results, or not all of them. */
  readonly error: string | null;
}

/** How the process of a suite ended. */
export interface SuiteEnd {
  readonly title: string;
  readonly exitCode: number;
  /** What it has printed, the end of it at least. */
  readonly output: string;
  readonly exitCodes?: readonly number[];
  readonly remedy: string;
}

/** A sentence or several, then the end of what was printed. */
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
      ? `None of the tests of the suite has run: all ${skipped} are skipped. ${title} ${ended}.`
      : `The suite has no tests. ${title} ${ended}. ${remedy}`;
  }
  const allPassed = tests.every(({ passed }) => passed);
  if (exitCode !== 0 && allPassed) {
    return `All tests that the suite tells of have passed, but something else went wrong. ${title} ${ended}.`;
  }
  if (exitCodes !== undefined && !exitCodes.includes(exitCode)) {
    return `${title} ${ended}: it did not come to its end, and not all tests may have run.`;
  }
  return undefined;
};

/** The results that a suite told of, with all that speaks against believing them. */
export const judge = (report: SuiteReport | string, end: SuiteEnd): SuiteResults => {
  if (typeof report === "string") {
    const words = `There are no results. ${report} ${end.title} ended with exit code ${end.exitCode}. ${end.remedy}`;
    return { tests: [], error: withOutput(words, end.output) };
  }
  const problem = problemOf(report, end);
  return { tests: report.tests, error: problem === undefined ? null : withOutput(problem, end.output) };
};

/** The path of the one test of a suite whose results are an exit code. */
const EXIT_CODE_PATH = "exit-code";

/** The results of a command that is a test itself. */
export const exitCodeResult = (passed: boolean, milliseconds: number, message: string): SuiteResults => {
  const test = { path: EXIT_CODE_PATH, passed, durationMs: Math.round(milliseconds) };
  return { tests: [passed ? test : { ...test, message }], error: null };
};
