import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import { EnvironmentStartError, type SandduneError } from "../../errors.ts";
import type { EnvironmentSetup, TestAccess } from "./liveEnvironment.ts";
import { socketFor } from "./sharedTests.ts";
import { accessTo, TOKEN_FOR_SERVER } from "./testAccess.ts";
import { archiveInSandbox } from "./tests/archiveInSandbox.ts";
import { evaluateArchive } from "./tests/evaluateArchive.ts";
import { prepareTests, type TestsInSandbox } from "./tests/prepareTests.ts";
import { startServer } from "./tests/startServer.ts";
import { inPackage } from "./tests/testPackage.ts";
import { TestProxyHost } from "./tests/testProxyHost.ts";
import { openTestSandbox } from "./tests/testSandbox.ts";

const ON_COMMITS = "The tests run on your last commit: commit your changes before you run them.";

/**
 * Answers the agent's test requests in a sandbox without an agent. A test proxy, which is a server in the agent's
 * sandbox, forwards each request to the host. The host copies the agent's commit from that sandbox, and trusts it
 * only for these answers.
 */
export const openStrict = Effect.fnUntraced(function* (
  setup: EnvironmentSetup,
): Effect.fn.Return<TestAccess, SandduneError, Scope.Scope> {
  const { session, sandbox, packagePath, plan } = setup;
  const { display, progress, journal } = session;
  const { startTimeoutMs: timeoutMs, token } = plan;
  const onProgress = (sentence: string) => display.hookLine("environment", sentence);
  let tests: TestsInSandbox | undefined;
  const offered = yield* Deferred.make<void>();
  let requests = 0;
  const proxy = new TestProxyHost(async (request, signal) => {
    if (tests === undefined) throw new EnvironmentStartError("it is not ready yet", "");
    const path = join(journal.filesDirectory, `request-${++requests}.tar`);
    try {
      await archiveInSandbox(sandbox.repository, path, signal);
      return await evaluateArchive(tests, path, request, signal);
    } finally {
      await rm(path, { force: true });
    }
  });
  const openTests = Effect.gen(function* () {
    const opened = yield* openTestSandbox(setup, "tests");
    let end = async () => {};
    yield* Effect.addFinalizer(() => Effect.promise(() => end()));
    const { schema } = yield* interruptible(async (signal) => {
      const prepared = await prepareTests(opened, { onProgress, timeoutMs, signal });
      end = prepared.end;
      return prepared;
    });
    tests = opened;
    proxy.offer(schema);
    yield* Deferred.succeed(offered, undefined);
  });
  const socket = socketFor(setup.sandboxPlan.provider);
  const startProxy = startServer(sandbox.repository.handle, {
    tool: inPackage(packagePath).tool,
    args: ["proxy", ...(socket === undefined ? [] : ["--socket", socket])],
    env: { ...session.plan.env.values, [TOKEN_FOR_SERVER]: token },
    stdin: proxy.answers,
    ...{ timeoutMs, onProgress },
    // Starts the limit when the tests are ready: their set-up has its own limit, and the sandbox has none.
    beginning: Deferred.await(offered),
    onMessage: (message) => proxy.receive(message),
    onEnd: (problem) => {
      if (proxy.isClosed) return;
      progress.warn(`The test proxy ended before the run: ${problem}`);
    },
  });
  const [url] = yield* Effect.all([startProxy, openTests], { concurrency: "unbounded" });
  yield* Effect.addFinalizer(() => Effect.promise(() => proxy.close()));
  return accessTo({ packagePath, url, socket, token, note: ON_COMMITS });
});
