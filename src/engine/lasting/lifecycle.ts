import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import { callerOf, namingCaller } from "../../boundary/callersStack.ts";
import type { Turns } from "../../boundary/turns.ts";
import { printNotice } from "../../display/notice.ts";
import { tellIfSlow } from "../../display/slowStep.ts";
import { ClosedError, InvalidOptionsError, RunStoppedError } from "../../errors.ts";
import type { CloseResult } from "../../options/results.ts";
import { onStopRequest } from "../../runs/journal/stopRequest.ts";
import { withCallersSignal } from "../landing/abortedRuns.ts";
import type { Kept } from "../session/session.ts";

/** The options that all calls have in common. */
interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly name?: string | undefined;
}

/** Calls take turns. Closing stops the current call, imports its work, and happens only once. */
export class Lifecycle {
  readonly #closing = new AbortController();
  readonly #calls = new Set<Promise<unknown>>();
  /** Sandboxes in a worktree, which it closes with itself. */
  readonly #children = new Set<Lifecycle>();
  readonly #warningsBefore: number;
  readonly #stopLooking: () => void;
  #closed: Promise<CloseResult> | undefined;

  constructor(
    private readonly what: "sandbox" | "worktree",
    private readonly kept: Kept<unknown>,
    private readonly turns: Turns,
    /** The commits that were made in it. */
    private readonly commits: Effect.Effect<readonly string[]>,
  ) {
    this.#warningsBefore = kept.session.progress.reached().warnings.length;
    const { journal, plan } = kept.session;
    this.#stopLooking = onStopRequest(journal, () => {
      this.#closing.abort(new RunStoppedError(plan.runId));
      void this.close();
    });
  }

  /** The warnings of its creation. */
  get warnings(): string[] {
    return this.kept.session.progress.reached().warnings.slice(0, this.#warningsBefore);
  }

  adopt(child: Lifecycle): void {
    this.#children.add(child);
  }

  /** Makes a call. Its options are checked at once; the call runs when its turn comes. */
  call<A, Options extends CallOptions>(
    options: Options,
    validate: (options: Options) => void,
    perform: (options: Options) => Effect.Effect<A, unknown>,
  ): Promise<A> {
    const call = namingCaller(callerOf(this.call), () =>
      this.#unlessDeadlocked(() => this.#call(options, validate, perform)),
    );
    const settled = call.catch(() => {}).finally(() => this.#calls.delete(settled));
    this.#calls.add(settled);
    return call;
  }

  close(): Promise<CloseResult> {
    if (this.#closed !== undefined) return this.#closed;
    return this.#unlessDeadlocked(() => {
      this.#closed ??= this.#close();
      return this.#closed;
    });
  }

  /** For `await using`, which discards the result. */
  async dispose(): Promise<void> {
    const { preservedWorktreePath, warnings } = await this.close();
    const { name } = this.kept.session.plan;
    for (const warning of warnings) printNotice(name, `Warning: ${warning}`);
    if (preservedWorktreePath !== undefined) printNotice(name, `Worktree kept: ${preservedWorktreePath}`);
  }

  /** Refuses a call from a function that another call waits for, if neither would ever have its turn. */
  #unlessDeadlocked<A>(call: () => Promise<A>): Promise<A> {
    return this.turns.unlessDeadlocked(
      call,
      () =>
        new InvalidOptionsError(
          "options",
          `a function that a call on this ${this.what} waits for (a value of env, stdin, a schema) makes another call on it. Calls take turns, so both would wait forever. Make that call first.`,
        ),
    );
  }

  async #call<A, Options extends CallOptions>(
    options: Options,
    validate: (options: Options) => void,
    perform: (options: Options) => Effect.Effect<A, unknown>,
  ): Promise<A> {
    const closing = this.#closing.signal;
    if (closing.aborted) throw new ClosedError(this.what);
    validate(options);
    const signal = withCallersSignal(closing, options.signal);
    const tell = (sentence: string) => printNotice(options.name, sentence);
    const endWait = tellIfSlow(`Waiting for another call on this ${this.what}`, tell, tell);
    let hasBegun = false;
    const work = Effect.suspend(() => {
      hasBegun = true;
      endWait();
      return perform({ ...options, signal });
    });
    try {
      return await this.turns.take(work, signal);
    } catch (error) {
      if (hasBegun) throw error;
      endWait();
      // A call that had not begun has nothing to report of the one that had.
      throw closing.aborted && error === closing.reason ? new ClosedError(this.what) : error;
    }
  }

  async #close(): Promise<CloseResult> {
    this.#stopLooking();
    this.#closing.abort(new ClosedError(this.what));
    await Promise.allSettled(this.#calls);
    await Promise.allSettled([...this.#children].map((child) => child.close()));
    const { progress } = this.kept.session;
    const close = Effect.catchCause(this.kept.close, (cause) =>
      Effect.sync(() => progress.warn(String(Cause.squash(cause)))),
    );
    await this.turns.take(close);
    const { preservedWorktreePath, warnings } = progress.reached();
    const commits = await Effect.runPromise(this.commits);
    return {
      commits: commits.map((sha) => ({ sha })),
      ...(preservedWorktreePath !== undefined && { preservedWorktreePath }),
      warnings: warnings.slice(this.#warningsBefore),
    };
  }
}
