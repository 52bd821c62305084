import { mkdirSync, writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule } from "vitest/node";

type Outcome = "passed" | "failed" | "skipped";

const outcomeOf = (test: TestCase): Outcome => {
  const { state } = test.result();
  return state === "passed" || state === "failed" ? state : "skipped";
};

/**
 * Closes the run with one plain line of counts, after naming what was skipped and why; and writes down which tests
 * ran, for the check that every listed behaviour has one.
 */
export default class ClosingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (outcome: Outcome) => tests.filter((test) => outcomeOf(test) === outcome).length;
    const brokenModules = modules.filter(
      (module) => module.state() === "failed" && module.errors().length > 0,
    ).length;
    const reasons = new Map<string, number>();
    for (const test of tests.filter((candidate) => outcomeOf(candidate) === "skipped")) {
      const result = test.result();
      const note = result.state === "skipped" ? result.note : undefined;
      const reason = note ?? `${test.module.relativeModuleId}: not for this machine (see above)`;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    for (const [reason, number] of reasons) console.log(`skipped ${number}: ${reason}`);
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
    console.log(
      `\n${count("passed")} passed, ${count("failed") + brokenModules} failed, ${count("skipped")} skipped`,
    );
  }
}
