import { callerOf, namingCaller } from "./boundary/callersStack.ts";
import type { FleetOptions, FleetResult, Tasks, TaskWithDefaults } from "./fleet/contract.ts";
import { runFleet } from "./fleet/runFleet.ts";
import type { RunOptions } from "./options/runOptions.ts";
import { run } from "./run.ts";
import type { SandboxProvider } from "./sandboxes/contract.ts";

/**
 * Runs many tasks, each in its own run session, with limited concurrency. Resolves when all tasks have ended, also if some
 * failed: see the outcomes. Rejects only if the tasks or options are invalid, or if the source of the tasks throws.
 *
 * @example
 * const { outcomes } = await runAll(
 *   [41, 42, 43].map((issue) => ({
 *     agent: claudeCode("claude-opus-4-8"),
 *     sandbox: docker(),
 *     branchStrategy: { type: "branch", branch: `agent/issue-${issue}` },
 *     prompt: `Fix issue ${issue}`,
 *   })),
 *   { concurrency: 8, retries: 1 },
 * );
 */
export function runAll<Sandbox extends SandboxProvider, Value = undefined>(
  tasks: Tasks<Sandbox, Value>,
  options?: FleetOptions<Value>,
): Promise<FleetResult<Value>>;
/** With `defaults`: options of `run()` for all tasks. A task's own value takes precedence. */
export function runAll<
  Sandbox extends SandboxProvider,
  Value = undefined,
  const Defaults extends Partial<RunOptions<Sandbox, Value>> = Partial<RunOptions<Sandbox, Value>>,
>(
  tasks:
    | Iterable<TaskWithDefaults<Defaults, Sandbox, Value>>
    | AsyncIterable<TaskWithDefaults<Defaults, Sandbox, Value>>,
  options: FleetOptions<Value> & {
    readonly defaults: Defaults & { readonly [Name in Exclude<keyof Defaults, keyof RunOptions>]: never };
  },
): Promise<FleetResult<Value>>;
export function runAll<Sandbox extends SandboxProvider, Value>(
  tasks: unknown,
  options: FleetOptions<Value> = {},
): Promise<FleetResult<Value>> {
  const caller = callerOf(runAll);
  return namingCaller(caller, () =>
    runFleet<Sandbox, Value>(tasks as Tasks<Sandbox, Value>, options, (task) =>
      namingCaller(caller, () => run<Sandbox, Value>(task)),
    ),
  );
}
