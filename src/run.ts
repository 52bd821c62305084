import * as Effect from "effect/Effect";
import { enter } from "./boundary/boundary.ts";
import { withContinuation } from "./engine/lasting/continueRun.ts";
import { planRun } from "./engine/plan/planRun.ts";
import { liveRun } from "./engine/session/liveRun.ts";
import { runSession } from "./engine/session/runSession.ts";
import { validateRun } from "./options/checks/entryPoints.ts";
import type { RunResult } from "./options/results.ts";
import type { RunOptions } from "./options/runOptions.ts";
import type { SandboxProvider } from "./sandboxes/contract.ts";

/** Like `run()`. Calls `onBegin` when all checks have passed, before anything is created. */
export const runChecked = <Sandbox extends SandboxProvider, Value = undefined>(
  options: RunOptions<Sandbox, Value>,
  onBegin: () => Promise<void>,
): Promise<RunResult<Value>> => {
  const same = { ...options };
  return enter(options as RunOptions, validateRun, (own) =>
    liveRun<Value>(
      planRun(own).pipe(
        Effect.tap(() => Effect.promise(onBegin)),
        Effect.flatMap(runSession),
      ),
    ),
  ).then((result) => withContinuation(result, same, (again) => run<Sandbox, Value>(again)));
};

/**
 * Runs an agent on a prompt in a sandbox, and resolves with the commits that it made on a branch.
 *
 * @example
 * const { commits, branch } = await run({
 *   agent: command("sh ./agent.sh"),
 *   sandbox: docker(),
 *   branchStrategy: { type: "branch", branch: "agent/fix-42" },
 *   prompt: "Fix issue 42",
 * });
 */
export const run = <Sandbox extends SandboxProvider, Value = undefined>(
  options: RunOptions<Sandbox, Value>,
): Promise<RunResult<Value>> => runChecked(options, async () => {});
