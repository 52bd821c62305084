import { SandboxBusyError, SandboxLostError, SandduneError } from "../errors.ts";
import type { RunResult } from "../options/results.ts";
import type { RunOptions } from "../options/runOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { orUndefined } from "../tools/orUndefined.ts";
import { retry } from "../tools/wait/retry.ts";
import type { FleetOptions } from "./contract.ts";
import type { Ending } from "./outcomes.ts";

/** Runs a task once. */
export type RunOne<Sandbox extends SandboxProvider, Value> = (
  task: RunOptions<Sandbox, Value>,
) => Promise<RunResult<Value>>;

/** The end of the last attempt, and the errors of those before it. */
export interface Attempts<Value> {
  readonly ending: Ending<Value>;
  readonly lost: readonly SandduneError[];
}

/** Whether the sandbox is to blame: the next attempt gets another one. */
const isOfSandbox = (error: SandduneError): boolean =>
  error instanceof SandboxLostError || error instanceof SandboxBusyError;

/** An error in the caller's code must not start an agent again. */
const isWanted = (retryIf: FleetOptions["retryIf"], error: SandduneError, attempt: number): boolean =>
  orUndefined(() => retryIf?.(error, attempt) === true) ?? false;

/**
 * Runs a task. Runs it again, in a new run session with the same options, if its sandbox was lost, no sandbox was available,
 * or the caller asks for it. On a named branch, or in the checkout, the next attempt continues from the imported commits of
 * the one before. With merge-to-head it starts from the target branch, which a failed attempt never reaches.
 */
export const attemptTask = async <Sandbox extends SandboxProvider, Value>(
  task: RunOptions<Sandbox, Value>,
  {
    run,
    retries,
    retryIf,
    onRetry,
  }: {
    readonly run: RunOne<Sandbox, Value>;
    readonly retries: number;
    readonly retryIf: FleetOptions["retryIf"];
    readonly onRetry: (error: SandduneError, attempt: number) => void;
  },
): Promise<Attempts<Value>> => {
  const lost: SandduneError[] = [];
  const pauseAfter = (error: unknown, failures: number): 0 | undefined => {
    const mayRetry = error instanceof SandduneError && !task.signal?.aborted;
    if (!mayRetry || !(isOfSandbox(error) || isWanted(retryIf, error, failures))) return undefined;
    lost.push(error);
    onRetry(error, lost.length + 1);
    return 0;
  };
  const ending = await retry(() => run(task), { attempts: retries + 1, pauseAfter }).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  return { ending, lost };
};
