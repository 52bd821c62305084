import type {
  FinishedExecution,
  RunnerProblem,
  ScenarioRunEvent,
  ScenarioRunOptions,
  ScenarioRunResult,
} from "../contract.ts";
import { countResults } from "../records/countResults.ts";
import { checkRunOptions } from "./checkRunOptions.ts";
import { describeExecution } from "./executions.ts";
import { planSuiteRun, preflightSandboxes } from "./planSuiteRun.ts";
import { runSuite } from "./runSuite.ts";

/** `runScenarios()`: checks the options, plans and executes. */
export const planAndRun = async (given: ScenarioRunOptions): Promise<ScenarioRunResult> => {
  const options = checkRunOptions(given);
  const { signal = new AbortController().signal, dryRun = false } = options;
  signal.throwIfAborted();
  const executions: FinishedExecution[] = [];
  const problems: RunnerProblem[] = [];
  const onEvent = (event: ScenarioRunEvent): void => {
    if (event.type === "finished") executions.push(event.execution);
    if (event.type === "problem") problems.push(event.problem);
    try {
      options.onProgress?.(event);
    } catch {
      // An error of the caller's function must not end executions.
    }
  };
  const plan = await planSuiteRun(options, signal);
  const { root, scenarioDir, fixturesRoot, recordsDir, mirrorDir } = plan.suite;
  const suite = { root, scenarioDir, fixturesRoot, recordsDir, mirrorDir };
  const planned = plan.executions.map(describeExecution);
  problems.push(...plan.problems);
  if (!dryRun) await preflightSandboxes(plan, signal);
  onEvent({ type: "planned", suite, executions: planned, problems: plan.problems });
  if (!dryRun) await runSuite({ ...options, ...plan, signal, onEvent });
  return { ...countResults(executions.map(({ record }) => record)), suite, planned, executions, problems };
};
