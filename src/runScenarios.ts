import { callerOf, namingCaller } from "./boundary/callersStack.ts";
import type { ScenarioRunOptions, ScenarioRunResult } from "./scenarios/contract.ts";

/**
 * Executes scenarios, grades their projects, and writes a record of each execution. Resolves when all have ended, whether
 * they pass or fail. Rejects if the options or the suite are wrong, or with `signal.reason`.
 *
 * @example
 * const { passing, failing, problems } = await runScenarios({ runnable: "any", agent: "codex", sandbox: docker() });
 */
export const runScenarios = (options: ScenarioRunOptions = {}): Promise<ScenarioRunResult> =>
  namingCaller(callerOf(runScenarios), async () => {
    // Programs that only use the other entry points do not load the scenario runner.
    const { planAndRun } = await import("./scenarios/execution/planAndRun.ts");
    return planAndRun(options);
  });
