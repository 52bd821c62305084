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

/**
 * Times every contestant once a round, so that a machine that gets slower or faster meanwhile does so for all of them.
 * The first round warms up and does not count. `after` gets what a contestant returned, off the clock.
 */
export const takeTurns = async (contestants, rounds) => {
  const samples = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { perform, after }] of Object.entries(contestants)) {
      const startedAt = performance.now();
      const value = await perform(round);
      const durationMs = performance.now() - startedAt;
      if (round === 0) continue;
      samples[name].push(durationMs);
      after?.(value);
    }
  }
  return samples;
};
