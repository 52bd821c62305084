import { availableParallelism } from "node:os";
import type { RunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { inParallel } from "../tools/wait/inParallel.ts";
import { attemptTask, type RunOne } from "./attemptTask.ts";
import { checkFleetOptions } from "./checkFleetOptions.ts";
import { checkTasks } from "./checkTasks.ts";
import type { FleetEvent, FleetOptions, FleetResult, TaskOutcome, Tasks } from "./contract.ts";
import { FleetTally, notStarted, outcomeOf, taskIdOf } from "./outcomes.ts";
import { signalFor } from "./runSignal.ts";
import { withDefaults } from "./withDefaults.ts";

/** Errors of the caller's callback do not affect the fleet. */
const progressReporter =
  <Value>({ onProgress }: FleetOptions<Value>) =>
  (event: FleetEvent<Value>): void => {
    try {
      onProgress?.(event);
    } catch {}
  };

/** Runs all tasks, each in its own run session. */
export const runFleet = async <Sandbox extends SandboxProvider, Value>(
  tasks: Tasks<Sandbox, Value>,
  options: FleetOptions<Value> & { readonly defaults?: object },
  run: RunOne<Sandbox, Value>,
): Promise<FleetResult<Value>> => {
  checkFleetOptions(tasks, options);
  // A copy: the caller may change the list meanwhile.
  const list: readonly RunOptions<Sandbox, Value>[] | undefined = Array.isArray(tasks)
    ? tasks.map((task) => withDefaults(options.defaults, task))
    : undefined;
  if (list !== undefined) checkTasks(list as readonly RunOptions[]);

  const { concurrency = availableParallelism(), retries = 0, retryIf, signal, keepOutcomes = true } = options;
  const tally = new FleetTally<Value>(keepOutcomes);
  const report = progressReporter(options);
  const finish = (outcome: TaskOutcome<Value>, result?: RunResult<Value>) => {
    tally.add(outcome);
    report({ type: "finished", outcome, ...(result && { result }) });
  };
  let started = 0;
  const perform = async (given: RunOptions<Sandbox, Value>): Promise<void> => {
    const task = list === undefined ? withDefaults(options.defaults, given) : given;
    const id = taskIdOf(task as RunOptions, started++);
    const startedAt = performance.now();
    using own = signalFor(signal, task?.signal);
    report({ type: "started", ...id });
    const { ending, lost } = await attemptTask<Sandbox, Value>(
      { ...task, signal: own.signal },
      {
        run,
        retries,
        retryIf,
        onRetry: (error, attempt) => report({ type: "retried", ...id, attempt, error }),
      },
    );
    const outcome = outcomeOf(id, ending, { lost, signal: own.signal, startedAt });
    finish(outcome, "result" in ending ? ending.result : undefined);
  };
  await inParallel(list ?? tasks, concurrency, perform, signal);
  for (const task of list?.slice(started) ?? []) finish(notStarted(taskIdOf(task as RunOptions, started++)));
  return tally.toResult();
};
