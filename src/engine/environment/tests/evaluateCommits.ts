import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runAtBoundary } from "../../../boundary/boundary.ts";
import type { EnvironmentSchema, TestResults } from "../../../environment/contract.ts";
import { loadEnvironment } from "../../../environment/folder/loadEnvironment.ts";
import { openRepository } from "../../../git/repository.ts";
import { archiveCommit } from "../../../git/snapshots/archiveCommit.ts";
import type { SandboxProvider } from "../../../sandboxes/contract.ts";
import { createStandalone } from "../../../standalone/createStandalone.ts";
import type { TestRequest } from "./evaluate.ts";
import { evaluateArchive } from "./evaluateArchive.ts";
import { prepareTests, type TestsInSandbox } from "./prepareTests.ts";
import { writePackage } from "./testPackage.ts";

export interface CommitEvaluation {
  /** The environment's folder. */
  readonly environment: string;
  /** The provider of the sandbox in which the tests of all commits run. */
  readonly sandbox: SandboxProvider;
  /** The repository, or the directory in it where the tests start. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Called with sentences about the progress of the set-up. */
  readonly onProgress: (sentence: string) => void;
}

const START_TIMEOUT_MS = 5 * 60_000;

/** Runs the tests of an environment on commits of a repository, one after the other, each on its own copy. */
export interface CommitEvaluator {
  readonly schema: EnvironmentSchema;
  /** Runs all tests by default. */
  evaluate(commit: string, request?: TestRequest): Promise<TestResults>;
  close(): Promise<void>;
}

/** Creates a sandbox for tests, and prepares the environment in it. */
export const openCommitEvaluator = async ({
  environment,
  sandbox: provider,
  cwd,
  signal,
  onProgress,
}: CommitEvaluation): Promise<CommitEvaluator> => {
  const loaded = await loadEnvironment(resolve(environment));
  const repository = await runAtBoundary(openRepository(resolve(cwd)), signal);
  const directory = await mkdtemp(join(tmpdir(), "sanddune-evaluation-"));
  const removeDirectory = () => rm(directory, { recursive: true, force: true });
  try {
    const packageOnHost = join(directory, "package");
    await writePackage(packageOnHost, [loaded]);
    const sandbox = await createStandalone(provider, { signal });
    let endSetup = async () => {};
    const close = async () => {
      try {
        await endSetup();
        await sandbox.terminate();
      } finally {
        await removeDirectory();
      }
    };
    try {
      const packagePath = `${sandbox.directory}/environment`;
      await sandbox.copyIn(packageOnHost, packagePath);
      const tests: TestsInSandbox = {
        sandbox: {
          handle: { exec: (command, options) => sandbox.run(command, options) },
          copyIn: (hostPath, sandboxPath) => sandbox.copyIn(hostPath, sandboxPath),
          packagePath,
          root: `${sandbox.directory}/tests`,
        },
        env: {},
        prefix: repository.prefix,
      };
      const { schema, end } = await prepareTests(tests, { onProgress, timeoutMs: START_TIMEOUT_MS, signal });
      endSetup = end;
      const archivePath = join(directory, "commit.tar");
      return {
        schema,
        evaluate: async (commit, request = {}) => {
          await rm(archivePath, { force: true });
          await runAtBoundary(archiveCommit(repository, commit, archivePath), signal);
          return evaluateArchive(tests, archivePath, request, signal);
        },
        close,
      };
    } catch (reason) {
      // The first error matters more than a failure to close the sandbox.
      await close().catch(() => {});
      throw reason;
    }
  } catch (reason) {
    await removeDirectory();
    throw reason;
  }
};
