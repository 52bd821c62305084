import type { SandduneError } from "../errors.ts";
import type { Commit, IterationUsage, RunResult, SandboxRunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";

/**
 * What a fleet has to do: the options of one `run()` each. A list is checked as a whole before anything starts. Of anything
 * else that can be iterated over, a task is taken when there is room for it, and checked then.
 */
export type Tasks<Sandbox extends SandboxProvider = SandboxProvider, Value = unknown> =
  | Iterable<RunOptions<Sandbox, Value>>
  | AsyncIterable<RunOptions<Sandbox, Value>>;

type OmitFromEach<Union, Names extends PropertyKey> = Union extends unknown ? Omit<Union, Names> : never;

/** A task of which all that is in `Defaults` may be left out. */
export type TaskWithDefaults<
  Defaults,
  Sandbox extends SandboxProvider = SandboxProvider,
  Value = unknown,
> = OmitFromEach<RunOptions<Sandbox, Value>, keyof Defaults> & Partial<RunOptions<Sandbox, Value>>;

/**
 * - `"succeeded"`: the run did.
 * - `"unsolved"`: it was to go on until its tests pass, and they do not. What it has committed is on `branch`, unmerged.
 * - `"failed"`: it did not; `error` says why.
 * - `"aborted"`: it was stopped, by a signal or by `sanddune stop`. What had been committed is on `branch`.
 * - `"not started"`: the fleet was aborted before its turn came.
 */
export type TaskState = "succeeded" | "unsolved" | "failed" | "aborted" | "not started";

/** How one task ended. What its run reached is told whether it succeeded or not, as far as it came. */
export interface TaskOutcome<Value = unknown>
  extends Partial<Omit<SandboxRunResult<Value>, "stdout" | "commits">> {
  /** Its place among the tasks, counted from 0. */
  readonly index: number;
  /** The `name` of the task. */
  readonly name?: string;
  readonly state: TaskState;
  /** How many run sessions it took: more than one if it was tried again. */
  readonly attempts: number;
  /** Of all attempts. */
  readonly durationMs: number;
  /** On `branch`; those of a lost attempt too, if the next one went on from them. */
  readonly commits: Commit[];
  /** Of all attempts. */
  readonly usage?: IterationUsage;
  /** What the run rejected with. */
  readonly error?: unknown;
  /** Why attempts ended that were followed by another one. Each tells its `branch` and `commits`. */
  readonly lost: readonly SandduneError[];
}

/** What becomes of the tasks, as it happens. */
export type FleetEvent<Value = unknown> =
  | { readonly type: "started"; readonly index: number; readonly name?: string }
  /** The task is tried again in a new run session. `attempt` is the one that begins: 2 or more. */
  | {
      readonly type: "retried";
      readonly index: number;
      readonly name?: string;
      readonly attempt: number;
      readonly error: SandduneError;
    }
  /** Every task has one of these, also one that was not started. `result` is all that `run()` resolved with. */
  | {
      readonly type: "finished";
      readonly outcome: TaskOutcome<Value>;
      readonly result?: RunResult<Value>;
    };

/** The options of `runAll()`. */
export interface FleetOptions<Value = unknown> {
  /** How many run sessions there are at a time; one for each core when it is left out. */
  readonly concurrency?: number;
  /**
   * How often a task is tried again whose sandbox was lost, whose service had none for the moment, or for which `retryIf`
   * says so; never when it is left out.
   */
  readonly retries?: number;
  /** Whether a task is tried again after another failure, too. `attempt` is the one that failed, from 1. A throw counts as `false`. */
  readonly retryIf?: (error: SandduneError, attempt: number) => boolean;
  /** Aborting ends all runs as an abort of each would, and starts no further ones. */
  readonly signal?: AbortSignal;
  /** Called with each event, in order. What it throws is swallowed: it cannot end a run. */
  readonly onProgress?: (event: FleetEvent<Value>) => void;
  /** `false`: `outcomes` of the result stays empty, because there are too many of them to keep. `onProgress` has told them. */
  readonly keepOutcomes?: boolean;
}

/** What `runAll()` resolves with. */
export interface FleetResult<Value = unknown> {
  /** One for each task, in the order of the tasks. Without what the agents said, which `onProgress` is told. */
  readonly outcomes: TaskOutcome<Value>[];
  readonly succeeded: number;
  readonly unsolved: number;
  readonly failed: number;
  readonly aborted: number;
  readonly notStarted: number;
  /** Tokens of all runs; not set if no agent tells. */
  readonly usage?: IterationUsage;
}
