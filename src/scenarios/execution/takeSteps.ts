import { HelperFileError } from "../../errors/commandErrors.ts";
import { lastLines } from "../../tools/shorten.ts";
import { type AgentStepOutcome, AgentTraces, EXIT_MANUAL } from "../agents/agentTraces.ts";
import { rememberHelpers } from "../grading/helperFiles.ts";
import type { ProjectFiles } from "../project/projectFiles.ts";
import type { StepRecord } from "../records/record.ts";
import { EXIT_TIMEOUT, type ScenarioCommandResult } from "../sandbox/commandRunner.ts";
import type { ProjectCommandRunner } from "../sandbox/projectCommandRunner.ts";
import { type AgentStep, isAgentStep, type PlainStep, type ScenarioStep } from "../spec.ts";
import { COMMAND_TIMEOUT_MS, type ExecutionContext } from "./executionContext.ts";
import { performPlainStep, stepName } from "./plainSteps.ts";

/** What is known once the steps of an execution have ended. */
export interface StepsTaken {
  /** Why the scenario fails, whatever the assertions say. */
  readonly failure?: string;
  /** Why a person has to execute the scenario. */
  readonly manual?: string;
  /** Errors of models that agents reported after they had worked. */
  readonly troubles: readonly string[];
  /** Ends processes that commands have left running, and restores the helper files; set once an agent has worked. */
  readonly restoreHelpers?: () => Promise<void>;
  /** The helper files that were changed, and restored. */
  readonly restored: ReadonlySet<string>;
}

type Done = ScenarioCommandResult &
  Pick<StepRecord, "tool_edits" | "usage"> &
  Partial<Pick<AgentStepOutcome, "manual" | "trouble" | "isRefused">>;

/** In an execution by the suite's tool, the word of an agent step is a subcommand. */
const forTool = ({ agent, prompt: _, model: __, ...settings }: AgentStep): PlainStep => ({
  ...settings,
  cli: agent,
});

/** Whether to continue with the next step. A timeout is not an exit code that could be allowed. */
const isFine = ({ allow_nonzero: isAllowed = false }: ScenarioStep, { code, isRefused }: Done): boolean =>
  code === 0 || (isAllowed && code !== EXIT_TIMEOUT && isRefused !== true);

const MAX_TAIL_LINES = 30;
const MAX_TAIL_LENGTH = 8000;
const tail = (text: string): string => lastLines(text.trimEnd(), MAX_TAIL_LINES, MAX_TAIL_LENGTH);

const recordOf = (name: string, step: ScenarioStep, startedAt: number, done: Done): StepRecord => ({
  name,
  exit_code: done.code,
  duration_ms: Math.round(performance.now() - startedAt),
  stdout_tail: tail(done.stdout),
  stderr_tail: tail(done.stderr),
  ...(done.code !== 0 && isFine(step, done) && { allow_nonzero: true }),
  ...(done.manual !== undefined && { manual: true }),
  ...(done.tool_edits && { tool_edits: done.tool_edits }),
  ...(done.usage && { usage: done.usage }),
});

/** Performs prerequisites and steps in order until one fails. Appends a record of each to `records`. */
export const takeSteps = async (
  {
    suite,
    spec,
    adapter,
    scenarioSandbox,
    agent,
    baseUrl,
    usesMirror,
    redactOutput,
    signal,
  }: ExecutionContext,
  files: ProjectFiles,
  commandRunner: ProjectCommandRunner,
  records: StepRecord[],
): Promise<StepsTaken> => {
  const done: PlainStep[] = [];
  const restored = new Set<string>();
  const troubles: string[] = [];
  const traces = new AgentTraces(files.root);
  let restoreHelpers: StepsTaken["restoreHelpers"];

  /** From now on, the helper files are restored to their present content. */
  const protectHelpers = async (): Promise<void> => {
    const restore = await rememberHelpers(spec, done, files);
    restoreHelpers = async () => {
      // Commands may have executed the agent's code, and have left processes running.
      await commandRunner.close();
      for (const path of await restore()) restored.add(path);
    };
  };

  /** A step that writes through a symbolic link of the agent has failed: the file is somewhere else. */
  const protectAfter = async (result: ScenarioCommandResult): Promise<ScenarioCommandResult> => {
    try {
      await protectHelpers();
      return result;
    } catch (error) {
      if (!(error instanceof HelperFileError)) throw error;
      return { code: 1, stdout: "", stderr: `${error.path}: ${error.problem}` };
    }
  };

  const performPlain = async (step: PlainStep): Promise<Done> => {
    const isOfFile = "write_file" in step || "append_to_file" in step;
    // An agent may not change the page's commands either.
    await restoreHelpers?.();
    if (isOfFile) await commandRunner.settle();
    const timeoutMs = step.timeout_ms ?? COMMAND_TIMEOUT_MS;
    const result = await performPlainStep(step, { commandRunner, files, suite, baseUrl, timeoutMs, signal });
    if (result.code !== 0) return result;
    done.push(step);
    return isOfFile && restoreHelpers !== undefined ? protectAfter(result) : result;
  };

  const performAgent = async (step: AgentStep): Promise<Done> => {
    if (agent === undefined) throw new Error("an agent's step, and no agent");
    if ("manual" in agent) return { code: EXIT_MANUAL, stdout: "", stderr: "", manual: agent.manual };
    // No command of the suite runs at the same time as an agent, which could watch or disturb it.
    await commandRunner.close();
    await restoreHelpers?.();
    await protectHelpers();
    // Scenarios without an agent do not load the engine.
    const { performAgentStep } = await import("../agents/performAgentStep.ts");
    const result = await traces.watch(() =>
      performAgentStep(step, { ...{ setup: agent, scenarioSandbox, suite, baseUrl, usesMirror, signal } }),
    );
    // Redact before the record cuts off the beginning, possibly in the middle of a secret.
    return { ...result, stdout: redactOutput(result.stdout), stderr: redactOutput(result.stderr) };
  };

  const perform = (step: ScenarioStep): Promise<Done> => {
    if (!isAgentStep(step)) return performPlain(step);
    return adapter === "cli" ? performPlain(forTool(step)) : performAgent(step);
  };

  const planned = [
    ...(spec.prerequisites ?? []).map((step) => ({ step, name: `prereq: ${stepName(step)}` })),
    ...(spec.steps ?? []).map((step) => ({ step, name: stepName(step) })),
  ];
  const taken = () => ({ restored, troubles, ...(restoreHelpers && { restoreHelpers }) });
  for (const { step, name } of planned) {
    const startedAt = performance.now();
    const result = await perform(step);
    records.push(recordOf(name, step, startedAt, result));
    if (result.trouble !== undefined) troubles.push(`${name}: ${result.trouble}`);
    if (result.manual !== undefined) return { ...taken(), manual: result.manual };
    if (!isFine(step, result)) return { ...taken(), failure: `${name}: exit code ${result.code}` };
  }
  return taken();
};
