import { posix } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { SANDBOX_HOME } from "../../git/sandboxGitDirectory.ts";
import { interruptible } from "../../process/interruptible.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { sandboxDirectory } from "../handleWithEnv.ts";
import type { SandboxSession } from "../sandboxSession.ts";
import type { Session } from "../session.ts";
import { accessTo, TOKEN_FOR_SERVER } from "./access.ts";
import { evaluate, placeArguments, type TestPlace } from "./evaluate.ts";
import type { LiveEnvironment } from "./live.ts";
import { inPackage } from "./package.ts";
import type { EnvironmentPlan } from "./plan.ts";
import { startServer } from "./startServer.ts";

/** Where an environment is to be opened. */
export interface EnvironmentSetup {
  readonly session: Session;
  /** The agent's. */
  readonly sandbox: SandboxSession;
  readonly packagePath: string;
  readonly plan: EnvironmentPlan;
}

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

const IN_REACH =
  'The environment\'s tests are files that the agent can change in this sandbox. With `isolation: "strict"` it cannot.';

/** The test server beside the agent, on the agent's own files. */
export const openShared = Effect.fnUntraced(function* (
  { session, sandbox, packagePath, plan }: EnvironmentSetup,
  provider: SandboxProvider,
): Effect.fn.Return<LiveEnvironment, SandduneError, Scope.Scope> {
  const { display, progress } = session;
  const { handle } = sandbox.repository;
  const { token, startTimeoutMs } = plan;
  const socket = socketFor(provider);
  const place: TestPlace = {
    ...{ sandbox: handle, packagePath, env: session.plan.env.values },
    worktree: sandboxDirectory(sandbox.checkout.repository, handle),
    scratch: scratchOf(provider, handle.worktreePath),
  };
  if (provider.type === "isolated") progress.warn(IN_REACH);
  const url = yield* startServer(handle, {
    tool: inPackage(packagePath).tool,
    args: ["serve", ...placeArguments(place), ...(socket === undefined ? [] : ["--socket", socket])],
    env: { ...place.env, [TOKEN_FOR_SERVER]: token },
    timeoutMs: startTimeoutMs,
    onProgress: (sentence) => display.hookLine("environment", sentence),
    onEnd: (problem) => progress.warn(`The test server has ended before the run: ${problem}`),
  });
  return {
    access: accessTo({ packagePath, url, socket, token }),
    tests: "files",
    evaluate: () =>
      interruptible(
        (signal) => evaluate(place, {}, signal),
        (reason) => reason as SandduneError,
      ),
  };
});
