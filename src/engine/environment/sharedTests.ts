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
  "The tests run on your files as they are. After your turn they run on your last commit, in a clean checkout: commit whatever they need.";

/** Commands in one bubblewrap sandbox have no network in common, but the same files. */
const SOCKET = "/tmp/sanddune-tests.sock";

/** How servers in the agent's sandbox are reached by what else runs in there. */
export const socketFor = ({ type }: SandboxProvider): string | undefined =>
  type === "bind-mount" ? SOCKET : undefined;

/** Where a set-up may leave what it makes. */
const scratchOf = ({ type }: SandboxProvider, worktreePath: string): string =>
  type === "bind-mount"
    ? `${SANDBOX_HOME}/sanddune-scratch`
    : posix.join(posix.dirname(worktreePath), "sanddune-scratch");

/** The agent's own requests, answered by a test server beside it, on its own files. */
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
    onEnd: (problem) => progress.warn(`The test server has ended before the run: ${problem}`),
  });
  return accessTo({ packagePath, url, socket, token, note: ON_FILES });
});
