import { SandboxError } from "../../errors.ts";
import { LinkedController } from "../../tools/wait/linkedController.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import type { ExecOptions, InteractiveExecOptions, IsolatedSandboxHandle } from "../contract.ts";

/** The time that importing the work may take; at most a fifth of the lifetime. */
const RESERVE_MS = 3 * 60_000;

const ENDED = "is nearly over, so its commands were ended while their work can still be imported";

/** When the provider's service ends a sandbox. */
export interface Deadline {
  readonly provider: string;
  /** By `Date.now()`. */
  readonly atMs: number;
  readonly lifetimeMs: number;
  /** How long the sandbox stays without a renewal. */
  readonly leaseMs?: number;
  /** How to get a longer lifetime. */
  readonly hint: string;
}

export const inWords = (ms: number): string =>
  ms >= 2 * 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} seconds`;

/** Shortly before a sandbox ends, aborts the commands in it, so that their work can still be imported. */
export class DeadlineWarning {
  readonly #deadline: Deadline;
  readonly #reserveMs: number;
  readonly #startedAt = Date.now();
  readonly #given = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(deadline: Deadline) {
    this.#deadline = deadline;
    this.#reserveMs = Math.min(RESERVE_MS, deadline.lifetimeMs / 5);
    this.#arm(deadline.atMs);
  }

  get signal(): AbortSignal {
    return this.#given.signal;
  }

  /** The provider has said when it will end the sandbox; never later than the deadline. */
  expectEnd(atMs: number): void {
    this.#arm(Math.min(atMs, this.#deadline.atMs));
  }

  /** The sandbox is over. */
  cancel(): void {
    clearTimeout(this.#timer);
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    const leftMs = atMs - this.#reserveBefore(atMs) - Date.now();
    const next = leftMs > MAX_TIMER_MS ? () => this.#arm(atMs) : () => this.#give(atMs);
    this.#timer = setTimeout(next, Math.min(Math.max(0, leftMs), MAX_TIMER_MS)).unref();
  }

  /** An early end is known one lease ahead at most. */
  #reserveBefore(atMs: number): number {
    const { atMs: lastMs, leaseMs = Number.POSITIVE_INFINITY } = this.#deadline;
    return atMs < lastMs ? Math.min(this.#reserveMs, leaseMs / 3) : this.#reserveMs;
  }

  #give(atMs: number): void {
    const { provider, lifetimeMs, hint } = this.#deadline;
    const isEarly = atMs < this.#deadline.atMs;
    const lifetime = inWords(isEarly ? atMs - this.#startedAt : lifetimeMs);
    const subject = isEarly
      ? `its lifetime of ${lifetime} was not extended and`
      : `its lifetime of ${lifetime}`;
    this.#given.abort(new SandboxError(provider, `${subject} ${ENDED}. ${hint}`));
  }
}

/** The deadline warning aborts commands that began before it, so that there is time to import. */
export const withDeadlineWarning = (
  handle: IsolatedSandboxHandle,
  deadlineWarning: DeadlineWarning,
): IsolatedSandboxHandle => {
  const inTime = async <Result>(
    signal: AbortSignal | undefined,
    perform: (signal?: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    if (deadlineWarning.signal.aborted) return perform(signal);
    using ends = new LinkedController(signal, deadlineWarning.signal);
    return await perform(ends.signal);
  };
  const { interactiveExec } = handle;
  return {
    ...handle,
    exec: (command: string, options: ExecOptions = {}) =>
      inTime(options.signal, (signal) => handle.exec(command, { ...options, ...(signal && { signal }) })),
    ...(interactiveExec && {
      interactiveExec: (command: string, options: InteractiveExecOptions = {}) =>
        inTime(options.signal, (signal) =>
          interactiveExec(command, { ...options, ...(signal && { signal }) }),
        ),
    }),
    close: () => {
      deadlineWarning.cancel();
      return handle.close();
    },
  };
};
