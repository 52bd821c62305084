const MEBIBYTE = 1024 * 1024;
const EVERY_MS = 250;

const collect = (globalThis as { gc?: () => void }).gc;

const liveBytes = (): number => {
  if (collect === undefined) throw new Error("it takes node --expose-gc to tell what is live");
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** By how many mebibytes the memory in use grows while something is done. What is only not collected yet does not count. */
export const liveGrowth = async (work: () => Promise<void>): Promise<number> => {
  const before = liveBytes();
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, liveBytes());
  }, EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  return (most - before) / MEBIBYTE;
};
