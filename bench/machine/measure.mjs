// Timing: medians of samples that are taken in turns.

export const median = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The values between which the middle half lies: how much the machine wavered. */
export const quartiles = (values) => {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  return [at(0.25), at(0.75)];
};

/** Everyone is first and last equally often, because each one finds the machine as the previous one left it. */
const rotated = (entries, round) => entries.map((_, index) => entries[(index + round) % entries.length]);

/**
 * Times every contestant once a round, so that a machine that gets slower or faster meanwhile does so for all of them.
 * The first round warms up and does not count. `before`, and `after` with the contestant's value, are off the clock.
 * A sample that an `optional` contestant fails to deliver is missing; if it fails while it warms up, it takes no part.
 */
export const takeTurns = async (contestants, rounds) => {
  const entries = Object.entries(contestants).filter(([, contestant]) => contestant !== undefined);
  const samples = Object.fromEntries(entries.map(([name]) => [name, []]));
  const failed = new Set();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { before, perform, after, optional = false }] of rotated(entries, round)) {
      if (failed.has(name)) continue;
      await before?.(round);
      try {
        const startedAt = performance.now();
        const value = await perform(round);
        const durationMs = performance.now() - startedAt;
        if (round === 0) continue;
        samples[name].push(durationMs);
        after?.(value);
      } catch (error) {
        if (!optional) throw error;
        console.error(`${name} failed in round ${round}: ${error}`);
        if (round === 0) failed.add(name);
      }
    }
  }
  return samples;
};

export const timed = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** All of them at once: `work` gets their numbers, from 0. */
export const atOnce = (count, work) =>
  Promise.all(Array.from({ length: count }, (_, number) => work(number)));
