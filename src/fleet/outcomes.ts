import { RunStoppedError, SandduneError } from "../errors.ts";
import type { IterationUsage, RunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import { addUsage } from "../options/usage.ts";
import type { FleetResult, TaskOutcome, TaskState } from "./contract.ts";

/** Which task an outcome is about. */
export interface TaskPlace {
  readonly index: number;
  readonly name?: string;
}

export const placeOf = (task: RunOptions, index: number): TaskPlace => {
  // A task that is none has no name either: what is wrong with it, `run()` says.
  const name = (task as Partial<RunOptions> | null | undefined)?.name;
  return name === undefined ? { index } : { index, name };
};

/** How the last attempt ended. */
export type Ending<Value> = { readonly result: RunResult<Value> } | { readonly error: unknown };

/** What was told by an error of ours; others have nothing to tell. */
const reachedBy = (error: unknown) => {
  if (!(error instanceof SandduneError)) return {};
  const {
    runId,
    iterations,
    branch,
    commits,
    keptRefs,
    logFilePath,
    preservedWorktreePath,
    protectedPaths,
    committedUserPaths,
    warnings,
    usage,
    solved,
  } = error;
  return {
    ...(runId !== undefined && { runId }),
    ...(iterations && { iterations }),
    ...(branch !== undefined && { branch }),
    ...(commits && { commits }),
    ...(keptRefs && { keptRefs }),
    ...(logFilePath !== undefined && { logFilePath }),
    ...(preservedWorktreePath !== undefined && { preservedWorktreePath }),
    ...(protectedPaths && { protectedPaths }),
    ...(committedUserPaths && { committedUserPaths }),
    ...(warnings && { warnings }),
    ...(usage && { usage }),
    ...(solved !== undefined && { solved }),
  };
};

/** All that a result tells, without what the agent said: that can be a mebibyte of each run. */
const reachedIn = <Value>({ stdout, ...reached }: RunResult<Value>) => reached;

const stateOf = (ending: Ending<unknown>, signal: AbortSignal): TaskState => {
  if ("result" in ending) return ending.result.solved === false ? "unsolved" : "succeeded";
  const isAborted = signal.aborted && ending.error === signal.reason;
  return isAborted || ending.error instanceof RunStoppedError ? "aborted" : "failed";
};

const sumUsage = (usages: readonly (IterationUsage | undefined)[]): IterationUsage | undefined =>
  usages.reduce((sum, usage) => (usage === undefined ? sum : addUsage(sum, usage)), undefined);

/** Makes the outcome of a task out of how its attempts ended. */
export const outcomeOf = <Value>(
  place: TaskPlace,
  ending: Ending<Value>,
  {
    lost,
    signal,
    startedAt,
  }: { readonly lost: readonly SandduneError[]; readonly signal: AbortSignal; readonly startedAt: number },
): TaskOutcome<Value> => {
  const reached: Partial<TaskOutcome<Value>> =
    "result" in ending ? reachedIn(ending.result) : reachedBy(ending.error);
  const gatheredOn = lost.filter(({ branch }) => branch !== undefined && branch === reached.branch);
  const usage = sumUsage([...lost.map((error) => error.usage), reached.usage]);
  return {
    ...place,
    ...reached,
    state: stateOf(ending, signal),
    attempts: lost.length + 1,
    durationMs: performance.now() - startedAt,
    commits: [...gatheredOn.flatMap(({ commits = [] }) => commits), ...(reached.commits ?? [])],
    ...(usage && { usage }),
    ...("error" in ending && { error: ending.error }),
    lost,
  };
};

export const notStarted = (place: TaskPlace): TaskOutcome<never> => ({
  ...place,
  state: "not started",
  attempts: 0,
  durationMs: 0,
  commits: [],
  lost: [],
});

const COUNTS = {
  succeeded: "succeeded",
  unsolved: "unsolved",
  failed: "failed",
  aborted: "aborted",
  "not started": "notStarted",
} as const;

/** Counts outcomes as they come, and keeps them if they are wanted. */
export class FleetTally<Value> {
  readonly #outcomes: TaskOutcome<Value>[] = [];
  readonly #counts = { succeeded: 0, unsolved: 0, failed: 0, aborted: 0, notStarted: 0 };
  #usage: IterationUsage | undefined;

  constructor(private readonly keepsOutcomes: boolean) {}

  add(outcome: TaskOutcome<Value>): void {
    this.#counts[COUNTS[outcome.state]]++;
    if (outcome.usage !== undefined) this.#usage = addUsage(this.#usage, outcome.usage);
    if (this.keepsOutcomes) this.#outcomes[outcome.index] = outcome;
  }

  toResult(): FleetResult<Value> {
    return {
      outcomes: this.#outcomes,
      ...this.#counts,
      ...(this.#usage && { usage: this.#usage }),
    };
  }
}
