import { posix } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { SANDBOX_HOME } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { sandboxDirectory } from "../../sandboxes/handle/handleWithEnv.ts";
import type { EnvironmentSetup, TestAccess } from "./liveEnvironment.ts";
import { accessTo, TOKEN_FOR_SERVER } from "./testAccess.ts";
import { placeArguments, type TestPlace } from "./tests/evaluate.ts";
import { startServer } from "./tests/startServer.ts";
import { inPackage } from "./tests/testPackage.ts";

const ON_FILES =
  "The tests run on your current files. After your turn they run on your last commit, in a clean checkout: commit everything that they need.";

/** Commands in a bubblewrap sandbox do not share a network, but they share files. */
const SOCKET = "/tmp/sanddune-tests.sock";

/** The socket on which other processes in the agent's sandbox reach a server. */
export const socketFor = ({ type }: SandboxProvider): string | undefined =>
  type === "bind-mount" ? SOCKET : undefined;

/** The directory for files of the set-up. */
const scratchOf = ({ type }: SandboxProvider, worktreePath: string): string =>
  type === "bind-mount"
    ? `${SANDBOX_HOME}/sanddune-scratch`
    : posix.join(posix.dirname(worktreePath), "sanddune-scratch");

/** Answers the agent's test requests with a test server in its own sandbox, on its own files. */
export const openShared = Effect.fnUntraced(function* ({
  session,
  sandbox,
  packagePath,
  plan,
  sandboxPlan: { provider },
}: EnvironmentSetup): Effect.fn.Return<TestAccess, SandduneError, Scope.Scope> {
  const { display, progress } = session;
  const { handle } = sandbox.repository;
  const { token, startTimeoutMs } = plan;
  const socket = socketFor(provider);
  const place: TestPlace = {
    ...{ sandbox: handle, packagePath, env: session.plan.env.values },
    worktree: sandboxDirectory(sandbox.checkout.repository, handle),
    scratch: scratchOf(provider, handle.worktreePath),
  };
  const url = yield* startServer(handle, {
    tool: inPackage(packagePath).tool,
    args: ["serve", ...placeArguments(place), ...(socket === undefined ? [] : ["--socket", socket])],
    env: { ...place.env, [TOKEN_FOR_SERVER]: token },
    timeoutMs: startTimeoutMs,
    onProgress: (sentence) => display.hookLine("environment", sentence),
    onEnd: (problem) => progress.warn(`The test server ended before the run: ${problem}`),
  });
  return accessTo({ packagePath, url, socket, token, note: ON_FILES });
});
