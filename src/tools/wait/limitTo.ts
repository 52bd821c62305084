import { onAbort } from "./onAbort.ts";

/** Runs a task when it is its turn. What is aborted while it waits is never run. */
export type Limit = <A>(task: () => Promise<A>, signal?: AbortSignal) => Promise<A>;

/** Lets at most `count` tasks run at a time; the others wait, first come, first served. */
export const limitTo = (count: number): Limit => {
  let running = 0;
  const waiting: (() => void)[] = [];

  const turn = (signal: AbortSignal | undefined): Promise<void> => {
    if (running < count) {
      running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        stopWaiting();
        resolve();
      };
      waiting.push(start);
      const stopWaiting = onAbort(signal, (reason) => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(reason);
      });
    });
  };

  return async (task, signal) => {
    signal?.throwIfAborted();
    await turn(signal);
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
};
