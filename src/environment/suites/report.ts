import type { TestResult } from "../contract.ts";
import { MAX_TESTS } from "../limits.ts";
import { readableMessage } from "./readable.ts";
import { DistinctPaths, pathOfNames } from "./testPaths.ts";

/** The longest report that is read. */
export const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/** The report of a suite about its tests. */
export interface SuiteReport {
  readonly tests: readonly TestResult[];
  /** How many tests were skipped on purpose: they count neither as passed nor as failed. */
  readonly skipped: number;
  /** Why it is incomplete or cannot be trusted: the end of a sentence that begins with "it". */
  readonly problem: string | undefined;
}

export interface TestOutcome {
  readonly passed: boolean;
  readonly durationMs?: number | undefined;
  /** Why it failed; ignored if it passed. */
  readonly message?: string | undefined;
}

const duration = (milliseconds = 0): number =>
  Number.isFinite(milliseconds) && milliseconds > 0 ? Math.round(milliseconds * 1000) / 1000 : 0;

/** Collects the tests of a report, up to the limit. */
export class ReportBuilder {
  readonly #tests: TestResult[] = [];
  readonly #paths = new DistinctPaths();
  #skipped = 0;
  #problem: string | undefined;

  /** `names` are the names of the groups of a test and its own, outermost first. */
  add(names: readonly string[], { passed, durationMs, message = "" }: TestOutcome): void {
    if (this.#tests.length >= MAX_TESTS) {
      this.fail(`has more than ${MAX_TESTS} tests: split the suite`);
      return;
    }
    const text = passed ? "" : readableMessage(message);
    this.#tests.push({
      path: this.#paths.add(pathOfNames(names)),
      passed,
      durationMs: duration(durationMs),
      ...(text !== "" && { message: text }),
    });
  }

  skip(): void {
    this.#skipped++;
  }

  /** Keeps the first problem only: others follow from it. */
  fail(problem: string): void {
    this.#problem ??= problem;
  }

  finish(): SuiteReport {
    return { tests: this.#tests, skipped: this.#skipped, problem: this.#problem };
  }
}
