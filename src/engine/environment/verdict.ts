import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { TestResults } from "../../environment/contract.ts";
import {
  CopyToWorktreeError,
  EnvironmentStartError,
  HookFailedError,
  ImportRefusedError,
  SandboxError,
  SandboxLostError,
  type SandduneError,
  StepTimeoutError,
} from "../../errors.ts";
import { archiveCommit } from "../../git/archiveCommit.ts";
import { interruptible } from "../../process/interruptible.ts";
import { withoutResults } from "./evaluate.ts";
import { evaluateArchive } from "./evaluateArchive.ts";
import type { EnvironmentSetup, LiveEnvironment } from "./live.ts";
import { setUp } from "./prepareTests.ts";
import { openTestSandbox } from "./testSandbox.ts";

/** The work may be to blame for these. It is imported, and the next iteration may fare better. */
const NO_RESULTS = [
  EnvironmentStartError,
  ImportRefusedError,
  HookFailedError,
  CopyToWorktreeError,
  StepTimeoutError,
  SandboxError,
  SandboxLostError,
];

/**
 * The engine's own evaluation of a commit: what is graded is what lands. It takes place in a sandbox that is made for it, so
 * that nothing which an agent has left running or lying about is near it; not even what its code has left that tests ran.
 */
export const verdicts = (setup: EnvironmentSetup): LiveEnvironment["evaluate"] => {
  const { session, sandbox, files, plan } = setup;
  const { journal, display } = session;
  const { repository } = sandbox.checkout;
  let evaluations = 0;
  const evaluate = Effect.fnUntraced(function* (
    commit: string,
  ): Effect.fn.Return<TestResults, SandduneError, Scope.Scope> {
    const label = `tests-${++evaluations}`;
    const archivePath = join(journal.filesDirectory, `${label}.tar`);
    yield* Effect.addFinalizer(() => Effect.promise(() => rm(archivePath, { force: true })));
    yield* archiveCommit(repository, commit, archivePath);
    const tests = yield* openTestSandbox(setup, label);
    if (files.hasSetupScript) {
      let end = async () => {};
      yield* Effect.addFinalizer(() => Effect.promise(() => end()));
      yield* interruptible(
        async (signal) => {
          const onProgress = (sentence: string) => display.hookLine("environment", sentence);
          end = await setUp(tests, { onProgress, timeoutMs: plan.startTimeoutMs, signal });
        },
        (reason) => reason as SandduneError,
      );
    }
    return yield* interruptible(
      (signal) => evaluateArchive(tests, archivePath, {}, signal),
      (reason) => reason as SandduneError,
    );
  });
  return (commit) =>
    Effect.scoped(evaluate(commit)).pipe(
      Effect.catchIf(
        (error) => NO_RESULTS.some((known) => error instanceof known),
        ({ message }) => Effect.succeed(withoutResults("", message)),
      ),
    );
};
