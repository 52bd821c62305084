import { onAbort } from "./onAbort.ts";

/** Runs a task in its turn. A task that is aborted while it waits is never run. */
export type Limit = <A>(task: () => Promise<A>, signal?: AbortSignal) => Promise<A>;

/** Use it where unrelated callers share a limit: at most `count` tasks run at a time, and the others wait in order. */
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
