import { setTimeout as delay } from "node:timers/promises";

const MEBIBYTE = 1024 * 1024;
const EVERY_MS = 50;
/** Collecting stops everything else, so later looks come after so many times as long as the last one took. */
const REST = 2;
/** Fewer looks could miss what is held in between. */
const LEAST_LOOKS = 3;

const collect = (globalThis as { gc?: () => void }).gc;

const liveBytes = (): number => {
  if (collect === undefined) throw new Error("it takes node --expose-gc to tell what is live");
  // One collection finds dead buffers, and frees them in the background. Only the next one stops counting them.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** By how many mebibytes the memory in use grows while something is done. What is only not collected yet does not count. */
export const liveGrowth = async (work: () => Promise<void>): Promise<number> => {
  const before = liveBytes();
  let most = before;
  let looks = 0;
  const over = new AbortController();
  const watching = (async () => {
    for (let restMs = EVERY_MS; !over.signal.aborted; looks++) {
      await delay(restMs, undefined, { signal: over.signal });
      const startedAt = performance.now();
      most = Math.max(most, liveBytes());
      // On a busy machine a collection takes long: the work would be over before enough looks.
      if (looks >= LEAST_LOOKS) restMs = Math.max(EVERY_MS, REST * (performance.now() - startedAt));
    }
  })().catch(() => {});
  try {
    await work();
  } finally {
    over.abort();
    await watching;
  }
  if (looks < LEAST_LOOKS)
    throw new Error(`the work was over after ${looks} looks at the memory: give it more to do`);
  return (most - before) / MEBIBYTE;
};
