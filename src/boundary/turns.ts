import { AsyncLocalStorage } from "node:async_hooks";
import type * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import { runAtBoundary } from "./boundary.ts";

/** A call that has its turn, or a caller's function that such a call waits for. */
interface Moment {
  readonly turns: Turns;
  isOver: boolean;
}

const calls = new AsyncLocalStorage<Moment>();
const questions = new AsyncLocalStorage<Moment>();

const during = async <A>(
  storage: AsyncLocalStorage<Moment>,
  turns: Turns,
  body: () => Promise<A>,
): Promise<A> => {
  const moment: Moment = { turns, isOver: false };
  try {
    return await storage.run(moment, body);
  } finally {
    moment.isOver = true;
  }
};

const current = (storage: AsyncLocalStorage<Moment>): Turns | undefined => {
  const moment = storage.getStore();
  return moment?.isOver ? undefined : moment?.turns;
};

/** Calls a function that the caller has passed, and waits for its answer: a value of env, stdin, a schema. */
export const askingCaller = <A>(ask: () => Promise<A>): Promise<A> => {
  const turns = current(calls);
  return turns === undefined ? ask() : during(questions, turns, ask);
};

/** Lets one call at a time work on a worktree, in the order of the calls. */
export class Turns {
  readonly #semaphore = Semaphore.makeUnsafe(1);
  /** The turns of other worktrees that the current call waits for. */
  readonly #awaited = new Map<symbol, Turns>();

  /** Makes a call when it has its turn. Rejects with the identical `signal.reason`, also while it waits. */
  take<A>(call: Effect.Effect<A, unknown>, signal?: AbortSignal): Promise<A> {
    return during(calls, this, () => runAtBoundary(this.#semaphore.withPermit(call), signal));
  }

  /**
   * Makes a call that needs a turn, perhaps from a caller's function that another call waits for. Throws `deadlock()` if
   * both calls would wait for each other.
   */
  async unlessDeadlocked<A>(call: () => Promise<A>, deadlock: () => Error): Promise<A> {
    const waiting = current(questions);
    if (waiting === undefined) return call();
    if (this.#waitsFor(waiting)) throw deadlock();
    const wait = Symbol("wait");
    waiting.#awaited.set(wait, this);
    return call().finally(() => waiting.#awaited.delete(wait));
  }

  #waitsFor(other: Turns): boolean {
    return this === other || [...this.#awaited.values()].some((awaited) => awaited.#waitsFor(other));
  }
}
