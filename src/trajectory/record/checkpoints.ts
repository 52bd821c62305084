import { type Checkpoint, type TakenCheckpoint, takeCheckpoint } from "../../git/snapshots/checkpoint.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";

/** A checkpoint with its new actions. */
export interface NewCheckpoint extends Checkpoint {
  readonly from: number;
  readonly isIncomplete: boolean;
}

export interface CheckpointsOptions {
  readonly repository: SandboxRepository;
  /** The commit that the run began with. */
  readonly base: string;
  readonly onTaken: (checkpoint: NewCheckpoint) => void;
  /** These actions have changed no files. */
  readonly onUnchanged: (number: number, from: number) => void;
  readonly onProblem: (sentence: string) => void;
}

/** Far more than git needs for a large repository. */
const TIMEOUT_MS = 60_000;
/** After an abort, the caller is waiting. */
const SETTLE_MS = { afterSuccess: TIMEOUT_MS, afterFailure: 10_000 } as const;
/** Each checkpoint is a ref, so their number is limited. */
const MAX_CHECKPOINTS = 2000;
/** After this many failures, no more checkpoints are taken. */
const MAX_FAILURES = 3;
/** How often a checkpoint is retaken because an action ended meanwhile. */
const MAX_ATTEMPTS = 4;

/** Taken one at a time while the agent works; later changes are in the next. Errors never fail the run. */
export class Checkpoints {
  /** The last action that has ended. */
  #last = 0;
  /** The first action without a checkpoint, not even a started one. */
  #next = 1;
  /** The first action whose changes are unknown. */
  #unknown = 1;
  #taken = 0;
  #failures = 0;
  #hasToldProblem = false;
  #isHeld = false;
  #newest: string;
  /** Checkpoints that exist only in the sandbox. */
  #unimported: Checkpoint[] = [];
  #current: Promise<void> | undefined;
  #stop = new AbortController();

  constructor(private readonly options: CheckpointsOptions) {
    this.#newest = options.base;
  }

  /** The checkpoints to import, oldest first. */
  get abroad(): readonly Checkpoint[] {
    return this.#unimported;
  }

  /** Drops the oldest ones: they were imported, or cannot be. */
  noteImported(count: number): void {
    this.#unimported = this.#unimported.slice(count);
  }

  /** An action has ended: it may have changed files. */
  noteAction(number: number): void {
    this.#last = number;
    if (!this.#isHeld) this.#current ??= this.#catchUp();
  }

  /** Starts no checkpoint until `resume`. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Waits until the current checkpoint is complete, or has failed. */
  get idle(): Promise<void> {
    return this.#current ?? Promise.resolve();
  }

  resume(): void {
    this.#isHeld = false;
    if (this.#next <= this.#last) this.#current ??= this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    do await this.#take(this.#last);
    while (this.#next <= this.#last && !this.#isHeld && !this.#stop.signal.aborted);
    this.#current = undefined;
  }

  /** Takes a checkpoint before the first action, of uncommitted files and files that hooks created. */
  async begin(signal: AbortSignal): Promise<void> {
    const stopFollowing = onAbort(signal, (reason) => this.#stop.abort(reason));
    await this.#take(0);
    stopFollowing();
  }

  /** Waits for the current checkpoint, and takes another if files changed since. Bounded time. */
  async settle(failed: boolean): Promise<void> {
    const limitMs = failed ? SETTLE_MS.afterFailure : SETTLE_MS.afterSuccess;
    const settled = withTimeLimit(limitMs, undefined, async (signal) => {
      onAbort(signal, (reason) => this.#stop.abort(reason));
      await this.#current;
      // The changes belong to the last action if its changes are unknown. Otherwise they get a number of their own.
      await this.#take(Math.max(this.#last, this.#unknown));
    });
    await settled.catch(() => {});
    this.#stop = new AbortController();
  }

  /** Takes a checkpoint that contains all changes up to an action. */
  async #take(number: number): Promise<void> {
    if (this.#failures >= MAX_FAILURES || this.#taken >= MAX_CHECKPOINTS) {
      this.#next = this.#last + 1;
      return;
    }
    try {
      const { upTo, taken } = await this.#takeInPeace(number);
      this.#failures = 0;
      this.#note(upTo, taken);
    } catch (reason) {
      this.#failures++;
      if (this.#hasToldProblem) return;
      this.#hasToldProblem = true;
      const problem = messageOf(reason);
      this.options.onProblem(`A checkpoint could not be taken: ${problem}`);
    }
  }

  /** An action that ended meanwhile may have changed files: then both actions share a checkpoint. */
  async #takeInPeace(number: number): Promise<{ readonly upTo: number; readonly taken: TakenCheckpoint }> {
    for (let attempt = 1, upTo = number; ; attempt++, upTo = this.#last) {
      if (upTo === this.#last) this.#next = upTo + 1;
      const { signal } = this.#stop;
      const request = { number: upTo, parent: this.#newest, signal, timeoutMs: TIMEOUT_MS };
      const taken = await takeCheckpoint(this.options.repository, request);
      if (this.#last <= upTo || attempt === MAX_ATTEMPTS) return { upTo, taken };
    }
  }

  #note(number: number, { sha, isIncomplete }: TakenCheckpoint): void {
    const from = Math.min(this.#unknown, number);
    // Without a change there is no extra action.
    if (sha !== undefined || number <= this.#last) this.#unknown = number + 1;
    if (sha === undefined) {
      if (number > 0 && number <= this.#last) this.options.onUnchanged(number, from);
      return;
    }
    this.#newest = sha;
    this.#unimported.push({ number, sha });
    if (number > this.#last) {
      this.#last = number;
      this.#next = number + 1;
    }
    this.options.onTaken({ number, sha, from, isIncomplete });
    if (++this.#taken === MAX_CHECKPOINTS) {
      this.options.onProblem(`The run has ${MAX_CHECKPOINTS} checkpoints: no more are taken.`);
    }
  }
}
