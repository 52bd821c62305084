import type { TestResult } from "../contract.ts";
import { MAX_TESTS } from "../limits.ts";
import { readableMessage } from "./readable.ts";
import { DistinctPaths, pathOfNames } from "./testPaths.ts";

/** The most that is read of a report. */
export const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/** What a suite says of its tests. */
export interface SuiteReport {
  readonly tests: readonly TestResult[];
  /** How many tests it has left out on purpose: they count neither as passed nor as failed. */
  readonly skipped: number;
  /** Why it is not believed, or not all of it is there: the end of a sentence that begins with "it". */
  readonly problem: string | undefined;
}

export interface TestOutcome {
  readonly passed: boolean;
  readonly durationMs?: number | undefined;
  /** Why it failed; of a test that has passed, it is not told. */
  readonly message?: string | undefined;
}

const duration = (milliseconds = 0): number =>
  Number.isFinite(milliseconds) && milliseconds > 0 ? Math.round(milliseconds * 1000) / 1000 : 0;

/** Collects the tests of a report, as many as there may be. */
export class ReportBuilder {
  readonly #tests: TestResult[] = [];
  readonly #paths = new DistinctPaths();
  #skipped = 0;
  #problem: string | undefined;

  /** `names` are those of a test and of all that it is in, outermost first. */
  add(names: readonly string[], { passed, durationMs, message = "" }: TestOutcome): void {
    if (this.#tests.length >= MAX_TESTS) {
      this.fail(`has more than ${MAX_TESTS} tests: divide the suite`);
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

  /** Of several problems, the first one is told: others follow from it. */
  fail(problem: string): void {
    this.#problem ??= problem;
  }

  finish(): SuiteReport {
    return { tests: this.#tests, skipped: this.#skipped, problem: this.#problem };
  }
}
