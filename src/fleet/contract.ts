import type { SandduneError } from "../errors.ts";
import type { Commit, IterationUsage, RunResult, SandboxRunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";

/**
 * The tasks of a fleet: the options of a `run()` each. A list is checked as a whole before anything starts. From any other
 * iterable, a task is taken and checked when it can start.
 */
export type Tasks<Sandbox extends SandboxProvider = SandboxProvider, Value = unknown> =
  | Iterable<RunOptions<Sandbox, Value>>
  | AsyncIterable<RunOptions<Sandbox, Value>>;

type OmitFromEach<Union, Names extends PropertyKey> = Union extends unknown ? Omit<Union, Names> : never;

/** A task that may leave out all options in `Defaults`. */
export type TaskWithDefaults<
  Defaults,
  Sandbox extends SandboxProvider = SandboxProvider,
  Value = unknown,
> = OmitFromEach<RunOptions<Sandbox, Value>, keyof Defaults> & Partial<RunOptions<Sandbox, Value>>;

/**
 * - `"succeeded"`: the run succeeded.
 * - `"unsolved"`: the run has `until: "tests-pass"`, and its tests still fail. Its commits are on `branch`, unmerged.
 * - `"failed"`: the run failed; see `error`.
 * - `"aborted"`: a signal or `sanddune stop` stopped the run. Its commits are on `branch`.
 * - `"not started"`: the fleet was aborted before the task could start.
 */
export type TaskState = "succeeded" | "unsolved" | "failed" | "aborted" | "not started";

/** How a task ended. It has the progress of the run, also if the run failed. */
export interface TaskOutcome<Value = unknown>
  extends Partial<Omit<SandboxRunResult<Value>, "stdout" | "commits">> {
  /** The index of the task, from 0. */
  readonly index: number;
  /** The `name` of the task. */
  readonly name?: string;
  readonly state: TaskState;
  /** The number of run sessions: more than one if the task was retried. */
  readonly attempts: number;
  /** The duration of all attempts. */
  readonly durationMs: number;
  /** The commits on `branch`, including those of earlier attempts that the last one continued from. */
  readonly commits: Commit[];
  /** The tokens of all attempts. */
  readonly usage?: IterationUsage;
  /** The error that the run rejected with. */
  readonly error?: unknown;
  /** The errors of the attempts before the last one. Each has its `branch` and `commits`. */
  readonly lost: readonly SandduneError[];
}

/** The progress of the tasks. */
export type FleetEvent<Value = unknown> =
  | { readonly type: "started"; readonly index: number; readonly name?: string }
  /** The task is retried in a new run session. `attempt` is the number of the new attempt: 2 or more. */
  | {
      readonly type: "retried";
      readonly index: number;
      readonly name?: string;
      readonly attempt: number;
      readonly error: SandduneError;
    }
  /** Sent once for each task, also for one that was not started. `result` is the complete result of `run()`. */
  | {
      readonly type: "finished";
      readonly outcome: TaskOutcome<Value>;
      readonly result?: RunResult<Value>;
    };

/** The options of `runAll()`. */
export interface FleetOptions<Value = unknown> {
  /** How many run sessions run at a time. Default: the number of cores. */
  readonly concurrency?: number;
  /**
   * How often a task is retried if its sandbox was lost, no sandbox was available, or `retryIf` returns true.
   * Default: 0.
   */
  readonly retries?: number;
  /** Whether to retry a task after any other failure. `attempt` is the number of the failed attempt, from 1. Throwing counts as `false`. */
  readonly retryIf?: (error: SandduneError, attempt: number) => boolean;
  /** Aborting it aborts all runs and starts no more. */
  readonly signal?: AbortSignal;
  /** Called with each event, in order. Errors that it throws are ignored: they cannot end a run. */
  readonly onProgress?: (event: FleetEvent<Value>) => void;
  /** With `false`, `outcomes` of the result stays empty, to save memory in a large fleet; use `onProgress`. Default: `true`. */
  readonly keepOutcomes?: boolean;
}

/** The result of `runAll()`. */
export interface FleetResult<Value = unknown> {
  /** One for each task, in the order of the tasks. Without the agents' text, which only `onProgress` gets. */
  readonly outcomes: TaskOutcome<Value>[];
  readonly succeeded: number;
  readonly unsolved: number;
  readonly failed: number;
  readonly aborted: number;
  readonly notStarted: number;
  /** The tokens of all runs. Not set if no agent reports them. */
  readonly usage?: IterationUsage;
}
