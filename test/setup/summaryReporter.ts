import { mkdirSync, writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite } from "vitest/node";

const PROGRESS_EVERY_MS = 30_000;
const SLOWEST = 10;

type Outcome = "passed" | "failed" | "skipped";

const outcomeOf = (test: TestCase): Outcome => {
  const { state } = test.result();
  return state === "passed" || state === "failed" ? state : "skipped";
};

/** Of the suite that was skipped as a whole, or of the test itself. */
const skipReasonOf = (test: TestCase): string => {
  const result = test.result();
  if (result.state === "skipped" && result.note !== undefined) return result.note;
  for (let parent: TestSuite | TestModule = test.parent; parent.type === "suite"; parent = parent.parent) {
    const { skipReason } = parent.meta();
    if (skipReason !== undefined) return skipReason;
  }
  return "by the test itself, or by a filter";
};

const minutes = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** With the time in which a file is read and its suites are set up. */
const durationOf = (module: TestModule): number => {
  const { collectDuration, duration, prepareDuration, setupDuration } = module.diagnostic();
  return collectDuration + duration + prepareDuration + setupDuration;
};

const counted = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/**
 * How far the tests are, while they run; at the end what was skipped and why, the slowest files, and one plain line of
 * counts. Also writes down which tests ran, for the check that every listed behaviour has one.
 */
export default class SummaryReporter implements Reporter {
  #startedAt = 0;
  #files = 0;
  #filesDone = 0;
  #progress: NodeJS.Timeout | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#startedAt = performance.now();
    this.#files = specifications.length;
    this.#filesDone = 0;
    // A terminal shows it all the time.
    if (process.stdout.isTTY) return;
    this.#progress = setInterval(() => {
      const elapsed = minutes(performance.now() - this.#startedAt);
      console.log(`-- ${this.#filesDone} of ${this.#files} test files, ${elapsed}`);
    }, PROGRESS_EVERY_MS);
  }

  onTestModuleEnd(): void {
    this.#filesDone += 1;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#progress);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    this.#printSkipped(tests.filter((test) => outcomeOf(test) === "skipped"));
    this.#printSlowest(modules);
    mkdirSync(".cache", { recursive: true });
    writeFileSync(
      ".cache/test-results.json",
      JSON.stringify(
        tests.map((test) => ({
          file: test.module.relativeModuleId,
          name: test.fullName,
          outcome: outcomeOf(test),
        })),
      ),
    );
    const count = (outcome: Outcome) => tests.filter((test) => outcomeOf(test) === outcome).length;
    const brokenModules = modules.filter(
      (module) => module.state() === "failed" && module.errors().length > 0,
    ).length;
    console.log(
      `\n${count("passed")} passed, ${count("failed") + brokenModules} failed, ${count("skipped")} skipped`,
    );
  }

  #printSkipped(tests: readonly TestCase[]): void {
    for (const [reason, number] of counted(tests.map(skipReasonOf))) {
      console.log(`\nSkipped ${number}: ${reason}`);
      const files = tests
        .filter((test) => skipReasonOf(test) === reason)
        .map((test) => test.module.relativeModuleId);
      for (const [file, inFile] of counted(files)) console.log(`  ${file} (${inFile})`);
    }
  }

  #printSlowest(modules: readonly TestModule[]): void {
    if (modules.length <= SLOWEST) return;
    console.log("\nSlowest files:");
    const sorted = modules.toSorted((one, other) => durationOf(other) - durationOf(one));
    for (const module of sorted.slice(0, SLOWEST)) {
      console.log(`  ${minutes(durationOf(module)).padStart(12)}  ${module.relativeModuleId}`);
    }
  }
}
