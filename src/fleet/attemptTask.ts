import { SandboxBusyError, SandboxLostError } from "../errors.ts";
import type { RunResult } from "../results.ts";
import type { RunOptions } from "../runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import type { RetriedError } from "./contract.ts";
import type { Ending } from "./outcomes.ts";

/** Does one task once. */
export type RunOne<Sandbox extends SandboxProvider, Value> = (
  task: RunOptions<Sandbox, Value>,
) => Promise<RunResult<Value>>;

/** How all attempts at a task went. */
export interface Attempts<Value> {
  readonly ending: Ending<Value>;
  readonly lost: readonly RetriedError[];
}

const isRetried = (error: unknown): error is RetriedError =>
  error instanceof SandboxLostError || error instanceof SandboxBusyError;

/**
 * Does a task, and does it again in a new run session if its sandbox was lost, or there was none for the moment. The
 * options are the same: on a named branch, or in the checkout, the next attempt goes on from what was brought home of the one before; with merge-to-head it starts
 * anew from the target branch, which a lost attempt never reaches.
 */
export const attemptTask = async <Sandbox extends SandboxProvider, Value>(
  task: RunOptions<Sandbox, Value>,
  {
    run,
    retries,
    onRetry,
  }: {
    readonly run: RunOne<Sandbox, Value>;
    readonly retries: number;
    readonly onRetry: (error: RetriedError, attempt: number) => void;
  },
): Promise<Attempts<Value>> => {
  const lost: RetriedError[] = [];
  for (;;) {
    try {
      return { ending: { result: await run(task) }, lost };
    } catch (error) {
      if (!isRetried(error) || task.signal?.aborted || lost.length >= retries)
        return { ending: { error }, lost };
      lost.push(error);
      onRetry(error, lost.length + 1);
    }
  }
};
