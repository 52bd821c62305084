import { isObject } from "../../../tools/values/predicates.ts";
import type { ParameterValues, TestResult } from "../../contract.ts";
import { readResults } from "../../results/readResults.ts";
import type { Collector } from "./collector.ts";
import type { SelectedTest } from "./selectTests.ts";
import { SetupFailure, type TestSession } from "./testSession.ts";
import type { TaskOutcome } from "./testWorker.ts";

export interface TestRun {
  readonly collector: Collector;
  /** The tests that have not started. */
  readonly queue: SelectedTest[];
  readonly parameters: ParameterValues;
  readonly signal: AbortSignal | undefined;
}

/** After its time limit, a suite ends its processes and reports what it knows. */
const SUITE_GRACE_MS = 10_000;

/** A worker runs the tested code: its results are checked. */
const suiteResults = (
  value: unknown,
): { readonly tests: readonly TestResult[]; readonly error: string | null } => {
  const { tests, error } = isObject(value) ? value : { tests: [], error: "the suite reported nothing" };
  const list = Array.isArray(tests) ? tests : [];
  const failed = list.filter((test) => test?.passed !== true).length;
  const results = readResults({
    path: "",
    passed: list.length - failed,
    failed,
    total: list.length,
    tests: list,
    error,
  });
  return results ?? { tests: [], error: "the suite reported invalid results" };
};

const runSuite = async (
  session: TestSession,
  suite: SelectedTest,
  { collector, signal }: TestRun,
): Promise<void> => {
  const { path, timeoutMs } = suite;
  const outcome = await session.ask({ type: "suite", path, timeoutMs }, timeoutMs + SUITE_GRACE_MS, signal);
  if (!outcome.isDone) collector.addSuite(suite, [], outcome.message);
  else {
    const { tests, error } = suiteResults(outcome.value);
    collector.addSuite(suite, tests, error);
  }
};

const resultOf = (path: string, startedAt: number, outcome: TaskOutcome): TestResult => ({
  path,
  passed: outcome.isDone,
  durationMs: Math.round(performance.now() - startedAt),
  ...(!outcome.isDone && { message: outcome.message }),
});

const runTest = async (
  session: TestSession,
  { path, timeoutMs }: SelectedTest,
  run: TestRun,
): Promise<void> => {
  const worker = await session.begin(run.signal);
  const startedAt = performance.now();
  const outcome = await worker.ask({ type: "test", path, parameters: run.parameters }, timeoutMs, run.signal);
  run.collector.addTest(resultOf(path, startedAt, outcome));
};

/**
 * Runs tests of a queue in one session. Other sessions may take tests of the same queue. If the set-up fails, no more tests start.
 * Rejects with `signal.reason` only.
 */
export const runInSession = async (session: TestSession, run: TestRun): Promise<void> => {
  const { queue, collector } = run;
  try {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      await (test.isSuite ? runSuite : runTest)(session, test, run);
    }
  } catch (reason) {
    queue.length = 0;
    if (!(reason instanceof SetupFailure)) throw reason;
    collector.addError(reason.message);
  }
};
