import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { TestResults } from "../../environment/contract.ts";
import { EnvironmentStartError, ImportRefusedError, type SandduneError } from "../../errors.ts";
import { archiveCommit } from "../../git/archiveCommit.ts";
import { interruptible } from "../../process/interruptible.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { accessTo, TOKEN_FOR_SERVER } from "./access.ts";
import { archiveInSandbox } from "./archiveInSandbox.ts";
import { CourierHost } from "./courierHost.ts";
import { withoutResults } from "./evaluate.ts";
import { evaluateArchive, type PreparedTests, prepareTests } from "./evaluateArchive.ts";
import type { LiveEnvironment } from "./live.ts";
import { inPackage } from "./package.ts";
import { type EnvironmentSetup, socketFor } from "./shared.ts";
import { startServer } from "./startServer.ts";
import { openTestSandbox } from "./testSandbox.ts";

const ON_COMMITS = "The tests run on what is committed: commit your changes before you run them.";

/**
 * The tests in sandboxes of their own, in which no agent has ever been. What the agent asks for comes by a courier: a server in its
 * sandbox that hands every request to the host. That gets a copy of the agent's commit from the agent's sandbox, whose word that is.
 * The engine's own evaluation is of the commit that was brought home, and in a sandbox that is made for it: where the agent's code has
 * been run once, it may have left something for the next time.
 */
export const openStrict = Effect.fnUntraced(function* (
  { session, sandbox, packagePath, plan }: EnvironmentSetup,
  provider: SandboxProvider,
  packageOnHost: string,
): Effect.fn.Return<LiveEnvironment, SandduneError, Scope.Scope> {
  const { display, progress, journal } = session;
  const { repository } = sandbox.checkout;
  const { startTimeoutMs: timeoutMs, token } = plan;
  const onProgress = (sentence: string) => display.hookLine("environment", sentence);
  const open = Effect.fnUntraced(function* (label: string) {
    const tests: PreparedTests = {
      sandbox: yield* openTestSandbox(session, provider, packageOnHost, label),
      env: session.plan.env.values,
      prefix: repository.prefix,
    };
    let end = async () => {};
    yield* Effect.addFinalizer(() => Effect.promise(() => end()));
    const prepared = yield* interruptible(
      async (signal) => {
        const made = await prepareTests(tests, { onProgress, timeoutMs, signal });
        end = made.end;
        return made;
      },
      (reason) => reason as SandduneError,
    );
    return { tests, schema: prepared.schema };
  });
  let archives = 0;
  const archivePath = () => join(journal.filesDirectory, `tests-${++archives}.tar`);

  const { tests, schema } = yield* open("tests");
  const courier = new CourierHost({
    schema,
    run: async (request, signal) => {
      const path = archivePath();
      try {
        await archiveInSandbox(sandbox.repository, path, signal);
        return await evaluateArchive(tests, path, request, signal);
      } finally {
        await rm(path, { force: true });
      }
    },
  });
  const socket = socketFor(provider);
  const url = yield* startServer(sandbox.repository.handle, {
    tool: inPackage(packagePath).tool,
    args: ["courier", ...(socket === undefined ? [] : ["--socket", socket])],
    env: { ...tests.env, [TOKEN_FOR_SERVER]: token },
    stdin: courier.answers,
    ...{ timeoutMs, onProgress },
    onMessage: (message) => courier.receive(message),
    onEnd: (problem) => progress.warn(`The courier of the tests has ended before the run: ${problem}`),
  });
  yield* Effect.addFinalizer(() => Effect.promise(() => courier.close()));

  let evaluations = 0;
  const evaluate = Effect.fnUntraced(function* (
    commit: string,
  ): Effect.fn.Return<TestResults, SandduneError, Scope.Scope> {
    const path = archivePath();
    yield* Effect.addFinalizer(() => Effect.promise(() => rm(path, { force: true })));
    const refused = yield* archiveCommit(repository, commit, path).pipe(
      Effect.as(undefined),
      Effect.catchIf(
        (error) => error instanceof ImportRefusedError,
        ({ message }) => Effect.succeed(message),
      ),
    );
    if (refused !== undefined) return withoutResults("", refused);
    const own = yield* open(`tests-${++evaluations}`);
    return yield* interruptible(
      (signal) => evaluateArchive(own.tests, path, {}, signal),
      (reason) => reason as SandduneError,
    );
  });
  return {
    access: accessTo({ packagePath, url, socket, token, note: ON_COMMITS }),
    tests: "commit",
    // As for tests that cannot be run: the agent's work is home, and the next iteration may fare better.
    evaluate: (commit) =>
      Effect.scoped(evaluate(commit)).pipe(
        Effect.catchIf(
          (error) => error instanceof EnvironmentStartError,
          ({ message }) => Effect.succeed(withoutResults("", message)),
        ),
      ),
  };
});
