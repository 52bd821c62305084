import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readEnvFile } from "../../envVars/envFile.ts";
import { FixtureError, ProjectRemovalError } from "../../errors/commandErrors.ts";
import { ENV_FILE } from "../../options/configDirectory.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { createRunId } from "../../runs/journal/runId.ts";
import {
  type OwnedDirectory,
  openOwnedDirectory,
  removeDeadDirectories,
} from "../../sandboxes/directories/ownedDirectory.ts";
import { inParallel } from "../../tools/wait/inParallel.ts";
import type { AgentSetup } from "../agents/performAgentStep.ts";
import { startMirror } from "../mirror/mirror.ts";
import { type FixtureSnapshots, layProject, snapshotFixtures } from "../project/fixtures.ts";
import type { ScenarioRecord } from "../records/record.ts";
import { redactRecord, secretsOfEnvironment, suitePaths } from "../records/redactRecord.ts";
import { type IndexedScenario, writeIndex } from "../records/writeIndex.ts";
import { addRecord, checkRecordsPlace, pruneRecords } from "../records/writeRecords.ts";
import type { RunnerProblem } from "../report/runnerProblem.ts";
import { CAPTURE_BYTES } from "../sandbox/commandRunner.ts";
import type { ScenarioSandbox } from "../sandbox/scenarioSandbox.ts";
import type { ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { buildRecord } from "./buildRecord.ts";
import type { Execution } from "./executions.ts";
import { type ExecutionOutcome, runScenario } from "./runScenario.ts";

/** What is told about an execution that is over. */
export interface FinishedExecution {
  readonly execution: Execution;
  readonly record: ScenarioRecord;
  /** `undefined` if the record could not be written; why is a problem of the runner. */
  readonly recordPath: string | undefined;
  /** Where the project is, if it was to be kept. */
  readonly projectPath: string | undefined;
}

export interface SuiteRun {
  readonly suite: ScenarioSuite;
  readonly executions: readonly Execution[];
  /** All scenarios of the suite, also those whose pages are bad, for the index. */
  readonly indexed: readonly IndexedScenario[];
  readonly runnerVersion: string;
  /** Given by the caller. */
  readonly baseUrl: string | undefined;
  /** A local mirror takes the place of the base URL. The suite has something to serve then. */
  readonly startsMirror: boolean;
  readonly ciUrl: string | undefined;
  readonly concurrency: number;
  readonly keepsProjects: boolean;
  /** How many records of a scenario are kept; all of them if it is left out. */
  readonly keep: number | undefined;
  /** The places of an execution. */
  readonly sandboxOf: (
    execution: Execution,
    projectPath: string,
    directory: OwnedDirectory,
  ) => ScenarioSandbox;
  /** Who does the agent's steps; `undefined` for an execution without any. */
  readonly agentOf: (execution: Execution) => AgentSetup | undefined;
  readonly onMirror: (baseUrl: string) => void;
  readonly onFinished: (finished: FinishedExecution) => void;
  /** The runner itself has failed, at an execution or after it: nothing of that is a verdict. */
  readonly onProblem: (problem: RunnerProblem, projectPath?: string) => void;
  readonly signal: AbortSignal;
}

/** What all executions of one suite run share. */
interface SharedState extends SuiteRun {
  /** `baseUrl` is the mirror's. */
  readonly usesMirror: boolean;
  readonly directory: OwnedDirectory;
  readonly snapshots: FixtureSnapshots;
  readonly secrets: ReadonlyMap<string, string>;
  readonly startedAt: Date;
}

const NOT_AUTOMATED: ExecutionOutcome = { result: "manual", steps: [], assertions: [], notes: undefined };

const fixtureOf = (
  { suite, snapshots: { snapshots, problems } }: SharedState,
  { fixture = "" }: ScenarioSpec,
) => {
  const snapshot = snapshots.get(fixture);
  if (snapshot !== undefined) return snapshot;
  throw new FixtureError(fixture, suite.fixturesRoot, problems.get(fixture) ?? "it was not copied");
};

const execute = async (
  shared: SharedState,
  execution: Execution,
  projectPath: string,
): Promise<ScenarioRecord> => {
  const { suite, signal } = shared;
  const { scenario, adapter } = execution;
  const { spec } = scenario;
  const startedAt = new Date();
  const about = {
    startedAt,
    suiteRunId: shared.directory.runId,
    version: suite.version,
    runnerVersion: shared.runnerVersion,
    ciUrl: shared.ciUrl,
  };
  const paths = new Map([...suitePaths(suite), [projectPath, "<project>"]]);
  if (adapter === undefined) {
    const record = buildRecord(execution, NOT_AUTOMATED, { ...about, sandbox: null, agent: undefined });
    return redactRecord(record, { secrets: shared.secrets, paths });
  }
  await layProject(fixtureOf(shared, spec), projectPath);
  const copied = { name: "copy fixture", exit_code: 0, duration_ms: Date.now() - startedAt.getTime() };
  const scenarioSandbox = shared.sandboxOf(execution, projectPath, shared.directory);
  const agent = shared.agentOf(execution);
  const secrets = new Map([...shared.secrets, ...(agent?.secrets ?? [])]);
  const redactor = new Redactor(secrets);
  const outcome = await runScenario({
    ...{ suite, spec, adapter, projectPath, scenarioSandbox, agent, signal },
    baseUrl: shared.baseUrl,
    usesMirror: shared.usesMirror,
    redact: (text) => redactor.text(text),
    redactOutput: (text) => redactor.capturedEnd(text, CAPTURE_BYTES),
  });
  const steps = [copied, ...outcome.steps];
  const record = buildRecord(
    execution,
    { ...outcome, steps },
    { ...about, sandbox: scenarioSandbox.name, agent },
  );
  return redactRecord(record, { secrets, paths });
};

/** Problems are in reports, which are published as records are. */
const tellProblem = (shared: SharedState, subject: string, error: unknown, projectPath?: string): void => {
  const message = new Redactor(shared.secrets).text((error as Error).message);
  shared.onProblem({ subject, message }, projectPath);
};

/** What cannot be removed is no reason not to execute the others. */
const removeProject = async (shared: SharedState, id: string, projectPath: string): Promise<void> => {
  try {
    await removeDirectory(projectPath);
  } catch (cause) {
    tellProblem(shared, id, new ProjectRemovalError(projectPath, (cause as Error).message, { cause }));
  }
};

/** A verdict that cannot be written down is still one. */
const writeDown = async (shared: SharedState, record: ScenarioRecord): Promise<string | undefined> => {
  try {
    return await addRecord(shared.suite.recordsDir, record);
  } catch (error) {
    tellProblem(shared, record.test_id, error);
    return undefined;
  }
};

const runOne = async (shared: SharedState, execution: Execution, number: number): Promise<void> => {
  const { suite, signal, keepsProjects, keep } = shared;
  const { id } = execution.scenario;
  const projectPath = join(shared.directory.path, `${number}-${id}`);
  try {
    await checkRecordsPlace(join(suite.recordsDir, id));
    const record = await execute(shared, execution, projectPath);
    const recordPath = await writeDown(shared, record);
    const isKept = keepsProjects && execution.adapter !== undefined;
    shared.onFinished({ execution, record, recordPath, projectPath: isKept ? projectPath : undefined });
    if (keep !== undefined) await pruneRecords(suite.recordsDir, id, { keep, since: shared.startedAt });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    tellProblem(shared, id, error, keepsProjects ? projectPath : undefined);
  } finally {
    if (!keepsProjects) await removeProject(shared, id, projectPath);
  }
};

const executeAll = async (run: SuiteRun, directory: OwnedDirectory, mirrorUrl?: string) => {
  const { suite, executions } = run;
  const fixtures = executions.flatMap(({ scenario: { spec } }) => spec.fixture ?? []);
  const fixturesDirectory = join(directory.path, "fixtures");
  await mkdir(fixturesDirectory);
  const shared: SharedState = {
    ...run,
    startedAt: new Date(),
    baseUrl: mirrorUrl ?? run.baseUrl,
    usesMirror: mirrorUrl !== undefined,
    directory,
    snapshots: await snapshotFixtures(suite, fixtures, fixturesDirectory),
    secrets: new Map([
      ...Object.entries(readEnvFile(join(suite.root, ENV_FILE)) ?? {}),
      ...secretsOfEnvironment(process.env),
    ]),
  };
  const numbered = executions.map((execution, index) => ({ execution, number: index + 1 }));
  try {
    await inParallel(numbered, run.concurrency, ({ execution, number }) => runOne(shared, execution, number));
  } finally {
    // The records are there, and the index can be made of them by any later run.
    await writeIndex(suite.recordsDir, run.indexed).catch((error) =>
      tellProblem(shared, "index.json", error),
    );
  }
};

const withMirror = async (run: SuiteRun, directory: OwnedDirectory): Promise<void> => {
  const { mirrorDir } = run.suite;
  if (!run.startsMirror || mirrorDir === undefined) return executeAll(run, directory);
  const mirror = await startMirror(mirrorDir);
  try {
    run.onMirror(mirror.baseUrl);
    await executeAll(run, directory, mirror.baseUrl);
  } finally {
    await mirror.close();
  }
};

/**
 * Executes scenarios side by side, and writes a record of each. Rejects if nothing at all could be executed: also if records
 * cannot be written, before anything is.
 */
export const runSuite = async (run: SuiteRun): Promise<void> => {
  run.signal.throwIfAborted();
  await checkRecordsPlace(run.suite.recordsDir);
  await removeDeadDirectories(run.signal);
  run.signal.throwIfAborted();
  const directory = await openOwnedDirectory("scenarios", createRunId());
  try {
    await withMirror(run, directory);
  } finally {
    // What is left now has been told of, project by project; the next runner tries again.
    await (run.keepsProjects ? directory.keep() : directory.remove().catch(() => {}));
  }
};
