import { checkAssertions } from "../grading/checkAssertions.ts";
import { ProjectFiles } from "../project/projectFiles.ts";
import type { AssertionRecord, ScenarioResult, StepRecord } from "../records/record.ts";
import { type ProjectCommandRunner, projectCommandRunner } from "../sandbox/projectCommandRunner.ts";
import { ProjectRefusedError } from "../sandbox/projectRefused.ts";
import { COMMAND_TIMEOUT_MS, type ExecutionContext } from "./executionContext.ts";
import { type StepsTaken, takeSteps } from "./takeSteps.ts";

export interface ExecutionOutcome {
  readonly result: ScenarioResult;
  readonly steps: readonly StepRecord[];
  readonly assertions: readonly AssertionRecord[];
  readonly notes: string | undefined;
}

const notesOf = (
  { failure, troubles, restored }: StepsTaken,
  failed: readonly AssertionRecord[],
): string | undefined => {
  const details = failed.map(({ name, detail }) => `  ${name}: ${detail}`);
  const notes = [
    ...(failure === undefined ? [] : [failure]),
    ...troubles,
    ...(details.length === 0 ? [] : ["failed assertions:", ...details]),
    ...[...restored].map(
      (path) =>
        `${path}, which the assertions use, was changed after the agent had started: it was put back.`,
    ),
  ];
  return notes.length === 0 ? undefined : notes.join("\n");
};

const grade = async (
  { spec, redact, signal }: ExecutionContext,
  taken: StepsTaken,
  files: ProjectFiles,
  commandRunner: ProjectCommandRunner,
): Promise<Omit<ExecutionOutcome, "steps">> => {
  const assertions = await checkAssertions(spec.assertions ?? [], {
    ...{ files, commandRunner, redact, signal },
    prepare: taken.restoreHelpers ?? (async () => {}),
    timeoutMs: COMMAND_TIMEOUT_MS,
  });
  const failed = assertions.filter(({ ok }) => !ok);
  return {
    result: taken.failure === undefined && failed.length === 0 ? "passing" : "failing",
    assertions,
    notes: notesOf(taken, failed),
  };
};

/** After grading, it does not matter whether the project can be copied out. */
const unlessRefused = (error: unknown): void => {
  if (!(error instanceof ProjectRefusedError)) throw error;
};

/** Executes a scenario in its project, and grades the project. Rejects if the runner itself has failed. */
export const runScenario = async (context: ExecutionContext): Promise<ExecutionOutcome> => {
  const { projectPath, scenarioSandbox, redactOutput } = context;
  const files = new ProjectFiles(projectPath);
  const commandRunner = projectCommandRunner(scenarioSandbox, redactOutput);
  const steps: StepRecord[] = [];
  try {
    const taken = await takeSteps(context, files, commandRunner, steps);
    if (taken.manual !== undefined) {
      return { result: "manual", steps, assertions: [], notes: taken.manual };
    }
    // Processes that the steps have left running must not change the project during grading.
    await commandRunner.close();
    return { steps, ...(await grade(context, taken, files, commandRunner)) };
  } catch (error) {
    // An agent must not avoid its grade by leaving files that cannot be copied.
    if (!(error instanceof ProjectRefusedError)) throw error;
    return { result: "failing", steps, assertions: [], notes: error.message };
  } finally {
    await commandRunner.close().catch(unlessRefused);
  }
};
