import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import type * as Scope from "effect/Scope";
import { runAtBoundary } from "../../boundary/boundary.ts";
import { interruptible } from "../../boundary/interruptible.ts";
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
import { archiveCommit } from "../../git/snapshots/archiveCommit.ts";
import type { EnvironmentSetup, LiveEnvironment } from "./liveEnvironment.ts";
import { withoutResults } from "./tests/evaluate.ts";
import { type ArchiveSource, evaluateOnce } from "./tests/evaluateArchive.ts";
import { setUp } from "./tests/prepareTests.ts";
import { openTestSandbox } from "./tests/testSandbox.ts";

/** The agent's work may cause these errors. They count as failed tests, and the next iteration may succeed. */
const NO_RESULTS = [
  EnvironmentStartError,
  ImportRefusedError,
  HookFailedError,
  CopyToWorktreeError,
  StepTimeoutError,
  SandboxError,
  SandboxLostError,
];

/** An evaluation that is prepared and waits for its commit. */
interface Evaluation {
  readonly label: string;
  /** Completed with the archive of the commit. */
  readonly archive: Deferred.Deferred<string>;
  readonly results: Deferred.Deferred<TestResults, SandduneError>;
  readonly fiber: Fiber.Fiber<unknown, unknown>;
}

/** Grades landing commits, each in a new sandbox that neither the agent nor tested code can influence. */
export const openGrading = Effect.fnUntraced(function* (
  setup: EnvironmentSetup,
): Effect.fn.Return<Pick<LiveEnvironment, "prepare" | "evaluate">, never, Scope.Scope> {
  const { session, sandbox, files, plan, sandboxPlan } = setup;
  const { journal, display } = session;
  const { repository } = sandbox.checkout;
  const scope = yield* Effect.scope;
  let evaluations = 0;

  const grade = Effect.fnUntraced(function* (
    label: string,
    archivePath: ArchiveSource,
  ): Effect.fn.Return<TestResults, SandduneError, Scope.Scope> {
    const tests = yield* openTestSandbox(setup, label);
    if (files.hasSetupScript) {
      let end = async () => {};
      yield* Effect.addFinalizer(() => Effect.promise(() => end()));
      yield* interruptible(async (signal) => {
        const onProgress = (sentence: string) => display.hookLine("environment", sentence);
        end = await setUp(tests, { onProgress, timeoutMs: plan.startTimeoutMs, signal });
      });
    }
    return yield* interruptible((signal) => evaluateOnce(tests, archivePath, signal));
  });

  /** Ends with the scope at the latest. The results are available before the sandbox is closed. */
  const begin: Effect.Effect<Evaluation> = Effect.gen(function* () {
    const label = `tests-${++evaluations}`;
    const archive = yield* Deferred.make<string>();
    const results = yield* Deferred.make<TestResults, SandduneError>();
    const archivePath: ArchiveSource = (signal) => runAtBoundary(Deferred.await(archive), signal);
    const tell = (exit: Exit.Exit<TestResults, SandduneError>) => Deferred.done(results, exit);
    const grading = Effect.scoped(Effect.onExit(grade(label, archivePath), tell));
    const fiber = yield* Effect.forkIn(grading, scope);
    return { label, archive, results, fiber };
  });

  const finish = Effect.fnUntraced(function* (
    { label, archive, results, fiber }: Evaluation,
    commit: string,
  ): Effect.fn.Return<TestResults, SandduneError> {
    const archivePath = join(journal.filesDirectory, `${label}.tar`);
    return yield* archiveCommit(repository, commit, archivePath).pipe(
      Effect.andThen(Deferred.succeed(archive, archivePath)),
      Effect.andThen(Deferred.await(results)),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Fiber.interrupt(fiber))),
      Effect.ensuring(Effect.promise(() => rm(archivePath, { force: true }))),
    );
  });

  // Not with a set-up script: while the agent works, it might reach a server that the script started. Not in a cloud:
  // its sandboxes are billed by the minute.
  const mayBeAhead = sandboxPlan.provider.type === "bind-mount" && !files.hasSetupScript;
  let ahead: Evaluation | undefined;
  const prepare = Effect.gen(function* () {
    if (mayBeAhead) ahead ??= yield* begin;
  });
  const evaluate = Effect.fnUntraced(function* (
    commit: string,
  ): Effect.fn.Return<TestResults, SandduneError> {
    const prepared = ahead;
    ahead = undefined;
    // A prepared evaluation that has already ended has failed, for example because its sandbox was lost.
    const isUsable = prepared !== undefined && !(yield* Deferred.isDone(prepared.results));
    return yield* finish(isUsable ? prepared : yield* begin, commit);
  });
  return {
    prepare,
    evaluate: (commit) =>
      evaluate(commit).pipe(
        Effect.catchIf(
          (error) => NO_RESULTS.some((known) => error instanceof known),
          ({ message }) => Effect.succeed(withoutResults("", message)),
        ),
      ),
  };
});
