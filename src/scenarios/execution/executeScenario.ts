import { FixtureError } from "../../errors/commandErrors.ts";
import { Redactor } from "../../redaction/redactor.ts";
import type { OwnedDirectory } from "../../sandboxes/directories/ownedDirectory.ts";
import { version } from "../../tools/version.ts";
import { createProject, type FixtureSnapshots } from "../project/fixtures.ts";
import type { ScenarioRecord } from "../records/record.ts";
import { redactRecord, suitePaths } from "../records/redactRecord.ts";
import { chooseSandbox } from "../sandbox/chooseSandbox.ts";
import { CAPTURE_BYTES } from "../sandbox/commandRunner.ts";
import type { ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { buildRecord } from "./buildRecord.ts";
import type { PlannedExecution } from "./executions.ts";
import { type ExecutionOutcome, runScenario } from "./runScenario.ts";

/** What all executions of one suite run share. */
export interface SuiteRunContext {
  readonly suite: ScenarioSuite;
  readonly baseUrl?: string;
  /** `baseUrl` is the address of the local mirror. */
  readonly usesMirror: boolean;
  readonly ciUrl?: string;
  readonly directory: OwnedDirectory;
  readonly fixtures: FixtureSnapshots;
  readonly secrets: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

const NOT_AUTOMATED: ExecutionOutcome = { result: "manual", steps: [], assertions: [], notes: undefined };

const fixtureOf = ({ suite, fixtures }: SuiteRunContext, { fixture = "" }: ScenarioSpec) => {
  const snapshot = fixtures.snapshots.get(fixture);
  if (snapshot !== undefined) return snapshot;
  const problem = fixtures.problems.get(fixture) ?? "it was not copied";
  throw new FixtureError(fixture, suite.fixturesRoot, problem);
};

/** Executes a scenario in a new project at `projectPath`. Rejects if the runner itself has failed. */
export const executeScenario = async (
  run: SuiteRunContext,
  execution: PlannedExecution,
  projectPath: string,
): Promise<ScenarioRecord> => {
  const { suite, baseUrl, usesMirror, signal } = run;
  const { adapter, agent } = execution;
  const { spec } = execution.scenario;
  const startedAt = new Date();
  const about = {
    startedAt,
    suiteRunId: run.directory.runId,
    version: suite.version,
    runnerVersion: version,
    ciUrl: run.ciUrl,
  };
  const paths = new Map([...suitePaths(suite), [projectPath, "<project>"]]);
  if (adapter === undefined) {
    const record = buildRecord(execution, NOT_AUTOMATED, { ...about, sandbox: null, agent: undefined });
    return redactRecord(record, { secrets: run.secrets, paths });
  }
  await createProject(fixtureOf(run, spec), projectPath);
  const copied = { name: "copy fixture", exit_code: 0, duration_ms: Date.now() - startedAt.getTime() };
  const scenarioSandbox = chooseSandbox(execution.sandbox, { suite, projectPath, runner: run.directory });
  const secrets = new Map([...run.secrets, ...(agent?.secrets ?? [])]);
  const redactor = new Redactor(secrets);
  const outcome = await runScenario({
    ...{ suite, spec, adapter, projectPath, scenarioSandbox, agent, baseUrl, usesMirror, signal },
    redact: (text) => redactor.text(text),
    redactOutput: (text) => redactor.capturedEnd(text, CAPTURE_BYTES),
  });
  const record = buildRecord(
    execution,
    { ...outcome, steps: [copied, ...outcome.steps] },
    { ...about, sandbox: scenarioSandbox.name, agent },
  );
  return redactRecord(record, { secrets, paths });
};
