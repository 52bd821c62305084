import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { readEnvFile } from "../../envVars/envFile.ts";
import { ProjectRemovalError } from "../../errors/commandErrors.ts";
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
import type { ScenarioRunEvent, ScenarioRunOptions } from "../contract.ts";
import { startMirror } from "../mirror/mirror.ts";
import { snapshotFixtures } from "../project/fixtures.ts";
import type { ScenarioRecord } from "../records/record.ts";
import { secretsOfEnvironment } from "../records/redactRecord.ts";
import { writeIndex } from "../records/writeIndex.ts";
import { addRecord, checkRecordsDirectory, pruneRecords } from "../records/writeRecords.ts";
import { executeScenario, type SuiteRunContext } from "./executeScenario.ts";
import { describeExecution, type PlannedExecution } from "./executions.ts";
import type { SuiteRunPlan } from "./planSuiteRun.ts";

type Settings = Pick<
  ScenarioRunOptions,
  "baseUrl" | "ciUrl" | "concurrency" | "keepProjects" | "keepRecords"
>;

export interface SuiteRun extends SuiteRunPlan, Settings {
  readonly onEvent: (event: ScenarioRunEvent) => void;
  readonly signal: AbortSignal;
}

interface StartedSuiteRun extends SuiteRun, SuiteRunContext {
  readonly startedAt: Date;
}

/** Problems are shown in reports, which are published as records are. */
const reportProblem = (run: StartedSuiteRun, subject: string, error: unknown, projectPath?: string): void => {
  const message = new Redactor(run.secrets).text((error as Error).message);
  run.onEvent({ type: "problem", problem: { subject, message }, projectPath });
};

/** A project that cannot be removed does not stop the other executions. */
const removeProject = async (run: StartedSuiteRun, id: string, projectPath: string): Promise<void> => {
  try {
    await removeDirectory(projectPath);
  } catch (cause) {
    reportProblem(run, id, new ProjectRemovalError(projectPath, (cause as Error).message, { cause }));
  }
};

/** A verdict whose record cannot be written is still a verdict. */
const writeRecord = async (run: StartedSuiteRun, record: ScenarioRecord): Promise<string | undefined> => {
  try {
    return await addRecord(run.suite.recordsDir, record);
  } catch (error) {
    reportProblem(run, record.test_id, error);
    return undefined;
  }
};

const runOne = async (run: StartedSuiteRun, execution: PlannedExecution, number: number): Promise<void> => {
  const { suite, signal, keepProjects = false, keepRecords: keep } = run;
  const { id } = execution.scenario;
  const projectPath = join(run.directory.path, `${number}-${id}`);
  try {
    await checkRecordsDirectory(join(suite.recordsDir, id));
    const record = await executeScenario(run, execution, projectPath);
    const recordPath = await writeRecord(run, record);
    const keptPath = keepProjects && execution.adapter !== undefined ? projectPath : undefined;
    const finished = { ...describeExecution(execution), record, recordPath, projectPath: keptPath };
    run.onEvent({ type: "finished", execution: finished });
    if (keep !== undefined) await pruneRecords(suite.recordsDir, id, { keep, since: run.startedAt });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    reportProblem(run, id, error, keepProjects ? projectPath : undefined);
  } finally {
    if (!keepProjects) await removeProject(run, id, projectPath);
  }
};

const executeAll = async (suiteRun: SuiteRun, directory: OwnedDirectory, mirrorUrl?: string) => {
  const { suite, executions, concurrency = availableParallelism() } = suiteRun;
  const fixtures = executions.flatMap(({ scenario: { spec } }) => spec.fixture ?? []);
  const fixturesDirectory = join(directory.path, "fixtures");
  await mkdir(fixturesDirectory);
  const run: StartedSuiteRun = {
    ...suiteRun,
    startedAt: new Date(),
    baseUrl: mirrorUrl ?? suiteRun.baseUrl,
    usesMirror: mirrorUrl !== undefined,
    directory,
    fixtures: await snapshotFixtures(suite, fixtures, fixturesDirectory),
    secrets: new Map([
      ...Object.entries(readEnvFile(join(suite.root, ENV_FILE)) ?? {}),
      ...secretsOfEnvironment(process.env),
    ]),
  };
  const numbered = executions.map((execution, index) => ({ execution, number: index + 1 }));
  try {
    await inParallel(numbered, concurrency, ({ execution, number }) => runOne(run, execution, number));
  } finally {
    // The records exist, so any later suite run can build the index from them.
    await writeIndex(suite.recordsDir, run.indexed).catch((error) => reportProblem(run, "index.json", error));
  }
};

const withMirror = async (run: SuiteRun, directory: OwnedDirectory): Promise<void> => {
  const { mirrorDir } = run.suite;
  if (!run.startsMirror || mirrorDir === undefined) return executeAll(run, directory);
  const mirror = await startMirror(mirrorDir);
  try {
    run.onEvent({ type: "mirrorStarted", baseUrl: mirror.baseUrl });
    await executeAll(run, directory, mirror.baseUrl);
  } finally {
    await mirror.close();
  }
};

/**
 * Executes scenarios in parallel, and writes a record of each. Rejects if nothing could be executed, for instance because
 * the records cannot be written; that is checked first.
 */
export const runSuite = async (run: SuiteRun): Promise<void> => {
  run.signal.throwIfAborted();
  await checkRecordsDirectory(run.suite.recordsDir);
  await removeDeadDirectories(run.signal);
  run.signal.throwIfAborted();
  const directory = await openOwnedDirectory("scenarios", createRunId());
  try {
    await withMirror(run, directory);
  } finally {
    // Projects that are left by now have been reported; the next suite run tries again to remove them.
    await (run.keepProjects ? directory.keep() : directory.remove().catch(() => {}));
  }
};
