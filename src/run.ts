import { enter } from "./boundary/enter.ts";
import { withContinuation } from "./engine/lasting/continueRun.ts";
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
  return enter(options as RunOptions, validateRun, async () => {
    const engine = await import("./engine/entryPoints.ts");
    return (own) => engine.run<Value>(own, onBegin);
  }).then((result) => withContinuation(result, same, (again) => run<Sandbox, Value>(again)));
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
