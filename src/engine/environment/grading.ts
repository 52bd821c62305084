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

/** An evaluation for which everything is made ready but the commit. */
interface Evaluation {
  readonly label: string;
  /** Gets the archive of the commit. */
  readonly archive: Deferred.Deferred<string>;
  readonly results: Deferred.Deferred<TestResults, SandduneError>;
  readonly fiber: Fiber.Fiber<unknown, unknown>;
}

/**
 * The engine's own evaluation of a commit: what is graded is what lands. It takes place in a sandbox that is made for it, so
 * that nothing which an agent has left running or lying about is near it; not even what its code has left that tests ran.
 */
export const openGrading = Effect.fnUntraced(function* (
  setup: EnvironmentSetup,
): Effect.fn.Return<Pick<LiveEnvironment, "prepare" | "evaluate">, never, Scope.Scope> {
  const { session, sandbox, files, plan, sandboxPlan } = setup;
  const { journal, display } = session;
  const { repository } = sandbox.checkout;
  const scope = yield* Effect.scope;
  let evaluations = 0;

  const judge = Effect.fnUntraced(function* (
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

  /** Ends with the scope at the latest. There are results before the sandbox is closed. */
  const begin: Effect.Effect<Evaluation> = Effect.gen(function* () {
    const label = `tests-${++evaluations}`;
    const archive = yield* Deferred.make<string>();
    const results = yield* Deferred.make<TestResults, SandduneError>();
    const archivePath: ArchiveSource = (signal) => runAtBoundary(Deferred.await(archive), signal);
    const tell = (exit: Exit.Exit<TestResults, SandduneError>) => Deferred.done(results, exit);
    const judging = Effect.scoped(Effect.onExit(judge(label, archivePath), tell));
    const fiber = yield* Effect.forkIn(judging, scope);
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

  // While an agent works, nothing may run in reach of it that tests rely on, such as a server that a set-up script has started. A sandbox of
  // a service is paid for by the minute.
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
    // One that is over without any work has failed, perhaps because its sandbox was lost meanwhile.
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
