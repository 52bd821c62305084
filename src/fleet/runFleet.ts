import { availableParallelism } from "node:os";
import type { RunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { inParallel } from "../tools/wait/inParallel.ts";
import { attemptTask, type RunOne } from "./attemptTask.ts";
import { checkFleet } from "./checkFleetOptions.ts";
import { checkTasks } from "./checkTasks.ts";
import type { FleetEvent, FleetOptions, FleetResult, TaskOutcome, Tasks } from "./contract.ts";
import { FleetTally, notStarted, outcomeOf, placeOf } from "./outcomes.ts";
import { signalFor } from "./runSignal.ts";
import { withDefaults } from "./withDefaults.ts";

/** What the caller does with an event is not the fleet's affair. */
const tellingOf =
  <Value>({ onProgress }: FleetOptions<Value>) =>
  (event: FleetEvent<Value>): void => {
    try {
      onProgress?.(event);
    } catch {}
  };

/** Does all tasks, each in a run session of its own. */
export const runFleet = async <Sandbox extends SandboxProvider, Value>(
  tasks: Tasks<Sandbox, Value>,
  options: FleetOptions<Value> & { readonly defaults?: object },
  run: RunOne<Sandbox, Value>,
): Promise<FleetResult<Value>> => {
  checkFleet(tasks, options);
  // A copy: the caller may go on with the list.
  const list: readonly RunOptions<Sandbox, Value>[] | undefined = Array.isArray(tasks)
    ? tasks.map((task) => withDefaults(options.defaults, task))
    : undefined;
  if (list !== undefined) checkTasks(list as readonly RunOptions[]);

  const { concurrency = availableParallelism(), retries = 0, retryIf, signal, keepOutcomes = true } = options;
  const tally = new FleetTally<Value>(keepOutcomes);
  const tell = tellingOf(options);
  const finish = (outcome: TaskOutcome<Value>, result?: RunResult<Value>) => {
    tally.add(outcome);
    tell({ type: "finished", outcome, ...(result && { result }) });
  };
  let begun = 0;
  const perform = async (given: RunOptions<Sandbox, Value>): Promise<void> => {
    const task = list === undefined ? withDefaults(options.defaults, given) : given;
    const place = placeOf(task as RunOptions, begun++);
    const startedAt = performance.now();
    using own = signalFor(signal, task?.signal);
    tell({ type: "started", ...place });
    const { ending, lost } = await attemptTask<Sandbox, Value>(
      { ...task, signal: own.signal },
      {
        run,
        retries,
        retryIf,
        onRetry: (error, attempt) => tell({ type: "retried", ...place, attempt, error }),
      },
    );
    const outcome = outcomeOf(place, ending, { lost, signal: own.signal, startedAt });
    finish(outcome, "result" in ending ? ending.result : undefined);
  };
  await inParallel(list ?? tasks, concurrency, perform, signal);
  for (const task of list?.slice(begun) ?? []) finish(notStarted(placeOf(task as RunOptions, begun++)));
  return tally.toResult();
};
