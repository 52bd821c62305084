/** How often something happened, with the 95 % confidence interval. */
export interface Rate {
  readonly events: number;
  readonly trials: number;
  /** Shares, between 0 and 1. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Standard deviations on either side that hold 95 % of a normal distribution. */
const Z = 1.959963984540054;

/** The Wilson score interval suits small samples: three passes out of three are not certainty. */
export const rateOf = (events: number, trials: number): Rate | undefined => {
  if (trials === 0) return undefined;
  const share = events / trials;
  const divisor = 1 + Z ** 2 / trials;
  const centre = share + Z ** 2 / (2 * trials);
  const margin = Z * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2));
  return {
    events,
    trials,
    share,
    low: events === 0 ? 0 : (centre - margin) / divisor,
    high: events === trials ? 1 : (centre + margin) / divisor,
  };
};
