import { type Checkpoint, type TakenCheckpoint, takeCheckpoint } from "../../git/snapshots/checkpoint.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";

/** A checkpoint, and which actions are new in it. */
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

/** Far above what git takes for the files of a large repository. */
const TIMEOUT_MS = 60_000;
/** Who has aborted a run is waiting. */
const SETTLE_MS = { afterSuccess: TIMEOUT_MS, afterFailure: 10_000 } as const;
/** Nobody looks at more, and each is a ref. */
const MAX_CHECKPOINTS = 2000;
/** A sandbox in which it does not work is not asked for ever. */
const MAX_FAILURES = 3;
/** How often to look again because of actions that came in between. */
const MAX_ATTEMPTS = 4;

/**
 * The checkpoints of a run. They are taken beside the agent, one at a time: what it does meanwhile is in the next one. Nothing
 * that goes wrong with them is a problem of the run.
 */
export class Checkpoints {
  /** The last action that is over. */
  #last = 0;
  /** The first action that no checkpoint was begun for. */
  #next = 1;
  /** The first action of which it is not known whether it has changed files. */
  #unknown = 1;
  #taken = 0;
  #failures = 0;
  #hasToldProblem = false;
  #isHeld = false;
  #newest: string;
  /** Those that are in the sandbox only. */
  #abroad: Checkpoint[] = [];
  #atWork: Promise<void> | undefined;
  #stop = new AbortController();

  constructor(private readonly options: CheckpointsOptions) {
    this.#newest = options.base;
  }

  /** What is to be brought home, oldest first. */
  get abroad(): readonly Checkpoint[] {
    return this.#abroad;
  }

  /** The oldest of them were imported, or are beyond help. */
  noteImported(count: number): void {
    this.#abroad = this.#abroad.slice(count);
  }

  /** An action is over: it may have changed files. */
  noteAction(number: number): void {
    this.#last = number;
    if (!this.#isHeld) this.#atWork ??= this.#catchUp();
  }

  /** No checkpoint is begun until `resume`. */
  hold(): void {
    this.#isHeld = true;
  }

  /** The checkpoint that is being taken is there, or has failed. */
  get idle(): Promise<void> {
    return this.#atWork ?? Promise.resolve();
  }

  resume(): void {
    this.#isHeld = false;
    if (this.#next <= this.#last) this.#atWork ??= this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    do await this.#take(this.#last);
    while (this.#next <= this.#last && !this.#isHeld && !this.#stop.signal.aborted);
    this.#atWork = undefined;
  }

  /** What was there before the first action: files that are not committed, or that hooks have made. */
  async begin(signal: AbortSignal): Promise<void> {
    const stopFollowing = onAbort(signal, (reason) => this.#stop.abort(reason));
    await this.#take(0);
    stopFollowing();
  }

  /** The agent is at rest: waits for what is being taken, and looks for changes since. In bounded time. */
  async settle(failed: boolean): Promise<void> {
    const limitMs = failed ? SETTLE_MS.afterFailure : SETTLE_MS.afterSuccess;
    const settled = withTimeLimit(limitMs, undefined, async (signal) => {
      onAbort(signal, (reason) => this.#stop.abort(reason));
      await this.#atWork;
      // They are those of the last action, if it is not known what came of it. Otherwise they get a number of their own.
      await this.#take(Math.max(this.#last, this.#unknown));
    });
    await settled.catch(() => {});
    this.#stop = new AbortController();
  }

  /** Takes a checkpoint that is to hold everything up to an action. */
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

  /** Files of an action that was over in between belong to it: then both share a checkpoint. */
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
    // Without a change, there is no action where the agent has told of none.
    if (sha !== undefined || number <= this.#last) this.#unknown = number + 1;
    if (sha === undefined) {
      if (number > 0 && number <= this.#last) this.options.onUnchanged(number, from);
      return;
    }
    this.#newest = sha;
    this.#abroad.push({ number, sha });
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
