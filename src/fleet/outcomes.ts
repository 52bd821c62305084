import { RunStoppedError, SandduneError } from "../errors.ts";
import type { IterationUsage, RunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import { addUsage, sumUsage } from "../options/usage.ts";
import { withoutUndefined } from "../tools/values/withoutUndefined.ts";
import type { FleetResult, TaskOutcome, TaskState } from "./contract.ts";

/** Identifies a task. */
export interface TaskId {
  readonly index: number;
  readonly name?: string;
}

export const taskIdOf = (task: RunOptions, index: number): TaskId => {
  // The source may produce anything; `run()` refuses a task that is not an object.
  const name = (task as Partial<RunOptions> | null | undefined)?.name;
  return name === undefined ? { index } : { index, name };
};

/** How the last attempt ended. */
export type Ending<Value> = { readonly result: RunResult<Value> } | { readonly error: unknown };

/** The progress that an error of ours carries. */
const reachedBy = (error: unknown) => {
  if (!(error instanceof SandduneError)) return {};
  const { runId, iterations, branch, commits, keptRefs, logFilePath, preservedWorktreePath } = error;
  const { protectedPaths, committedUserPaths, warnings, usage, solved } = error;
  return withoutUndefined({
    ...{ runId, iterations, branch, commits, keptRefs, logFilePath, preservedWorktreePath },
    ...{ protectedPaths, committedUserPaths, warnings, usage, solved },
  });
};

/** A result without the agent's text, which can be a mebibyte for each run. */
const reachedIn = <Value>({ stdout, ...reached }: RunResult<Value>) => reached;

const stateOf = (ending: Ending<unknown>, signal: AbortSignal): TaskState => {
  if ("result" in ending) return ending.result.solved === false ? "unsolved" : "succeeded";
  const isAborted = signal.aborted && ending.error === signal.reason;
  return isAborted || ending.error instanceof RunStoppedError ? "aborted" : "failed";
};

/** The outcome of a task after its last attempt. */
export const outcomeOf = <Value>(
  id: TaskId,
  ending: Ending<Value>,
  {
    lost,
    signal,
    startedAt,
  }: { readonly lost: readonly SandduneError[]; readonly signal: AbortSignal; readonly startedAt: number },
): TaskOutcome<Value> => {
  const reached: Partial<TaskOutcome<Value>> =
    "result" in ending ? reachedIn(ending.result) : reachedBy(ending.error);
  const onSameBranch = lost.filter(({ branch }) => branch !== undefined && branch === reached.branch);
  const usage = sumUsage([...lost.map((error) => error.usage), reached.usage]);
  return {
    ...id,
    ...reached,
    state: stateOf(ending, signal),
    attempts: lost.length + 1,
    durationMs: performance.now() - startedAt,
    commits: [...onSameBranch.flatMap(({ commits = [] }) => commits), ...(reached.commits ?? [])],
    ...(usage && { usage }),
    ...("error" in ending && { error: ending.error }),
    lost,
  };
};

export const notStarted = (id: TaskId): TaskOutcome<never> => ({
  ...id,
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

/** Counts outcomes as they arrive, and keeps them if the caller wants them. */
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
