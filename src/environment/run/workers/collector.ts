import type { TestProgress, TestResult, TestResults } from "../../contract.ts";
import { asksFor } from "../../definition/testPath.ts";
import { MAX_TESTS } from "../../limits.ts";
import type { SelectedTest, Selection } from "./selectTests.ts";
import { unknownPath } from "./selectTests.ts";

/** Collects the results of tests, which may end in any order. */
export class Collector {
  readonly #results = new Map<string, readonly TestResult[]>();
  readonly #errors: string[] = [];
  #done = 0;
  readonly #seenInSuites: string[] = [];

  constructor(
    private readonly selection: Selection,
    private readonly onProgress: ((progress: TestProgress) => void) | undefined,
  ) {}

  /** Reports that no test has ended yet. */
  begin(): void {
    this.onProgress?.({ done: 0, total: this.#total() });
  }

  addTest(result: TestResult): void {
    this.#results.set(result.path, [result]);
    this.#done++;
    this.onProgress?.({ done: this.#done, total: this.#total(), last: result });
  }

  addSuite({ path }: SelectedTest, tests: readonly TestResult[], error: string | null): void {
    const { asked } = this.selection;
    const wanted = tests.filter((test) => asksFor(asked, test.path));
    this.#results.set(path, wanted);
    this.#seenInSuites.push(...tests.map((test) => test.path));
    this.#done += wanted.length;
    if (error !== null) this.#errors.push(`${path}: ${error}`);
    this.onProgress?.({ done: this.#done, total: this.#total() });
  }

  /** Explains why results are missing. */
  addError(error: string): void {
    if (!this.#errors.includes(error)) this.#errors.push(error);
  }

  /** Throws a `TestRequestError` if a suite has no test of the requested path. */
  results(): TestResults {
    const all = this.selection.tests.flatMap(({ path }) => this.#results.get(path) ?? []);
    const { asked } = this.selection;
    const isBelowSuite = this.selection.tests.every(({ path }) => !asksFor(asked, path));
    if (isBelowSuite && all.length === 0 && this.#errors.length === 0)
      throw unknownPath(asked, this.#seenInSuites);
    if (all.length > MAX_TESTS) this.#errors.push(`Only ${MAX_TESTS} of ${all.length} tests are reported.`);
    const tests = all.slice(0, MAX_TESTS);
    const failed = tests.filter(({ passed }) => !passed).length;
    const counts = { passed: tests.length - failed, failed, total: tests.length };
    return { path: asked, ...counts, tests, error: this.#errors.join("\n") || null };
  }

  /** Unknown while a suite has not reported its tests. */
  #total(): number | undefined {
    const { tests } = this.selection;
    if (tests.some(({ path, isSuite }) => isSuite && !this.#results.has(path))) return undefined;
    return tests.reduce(
      (sum, { path, isSuite }) => sum + (isSuite ? (this.#results.get(path)?.length ?? 0) : 1),
      0,
    );
  }
}
