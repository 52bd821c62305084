import { SandboxError } from "../../errors.ts";
import { LinkedController } from "../../tools/wait/linkedController.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import type { ExecOptions, InteractiveExecOptions, IsolatedSandboxHandle } from "../contract.ts";

/** How long bringing work home may take; of a short life, a fifth. */
const RESERVE_MS = 3 * 60_000;

const ENDED = "is nearly over, so what ran in it was ended, while its work can still be brought home";

/** When a sandbox is ended by its engine. */
export interface Deadline {
  readonly provider: string;
  /** By `Date.now()`. */
  readonly atMs: number;
  readonly lifetimeMs: number;
  /** How long the sandbox stays without being asked to. */
  readonly leaseMs?: number;
  /** How to have a sandbox for longer. */
  readonly hint: string;
}

export const inWords = (ms: number): string =>
  ms >= 2 * 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} seconds`;

/** The moment, shortly before a sandbox ends, at which everything in it is ended while its work can still be brought home. */
export class LastCall {
  readonly #deadline: Deadline;
  readonly #reserveMs: number;
  readonly #startedAt = Date.now();
  readonly #rung = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(deadline: Deadline) {
    this.#deadline = deadline;
    this.#reserveMs = Math.min(RESERVE_MS, deadline.lifetimeMs / 5);
    this.#arm(deadline.atMs);
  }

  get signal(): AbortSignal {
    return this.#rung.signal;
  }

  /** The engine has said when it ends the sandbox, if nothing else happens; later than the deadline is it never. */
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
    const next = leftMs > MAX_TIMER_MS ? () => this.#arm(atMs) : () => this.#ring(atMs);
    this.#timer = setTimeout(next, Math.min(Math.max(0, leftMs), MAX_TIMER_MS)).unref();
  }

  /** An end that comes early is known for a lease at most. */
  #reserveBefore(atMs: number): number {
    const { atMs: lastMs, leaseMs = Number.POSITIVE_INFINITY } = this.#deadline;
    return atMs < lastMs ? Math.min(this.#reserveMs, leaseMs / 3) : this.#reserveMs;
  }

  #ring(atMs: number): void {
    const { provider, lifetimeMs, hint } = this.#deadline;
    const isEarly = atMs < this.#deadline.atMs;
    const lifetime = inWords(isEarly ? atMs - this.#startedAt : lifetimeMs);
    const subject = isEarly
      ? `it is not given more than its lifetime of ${lifetime}, which`
      : `its lifetime of ${lifetime}`;
    this.#rung.abort(new SandboxError(provider, `${subject} ${ENDED}. ${hint}`));
  }
}

/**
 * A sandbox whose commands are ended at the last call, so that there is time to bring home what they have done. Commands that
 * begin after that moment are left alone.
 */
export const endInTime = (handle: IsolatedSandboxHandle, lastCall: LastCall): IsolatedSandboxHandle => {
  const inTime = async <Result>(
    signal: AbortSignal | undefined,
    perform: (signal?: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    if (lastCall.signal.aborted) return perform(signal);
    using ends = new LinkedController(signal, lastCall.signal);
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
      lastCall.cancel();
      return handle.close();
    },
  };
};
