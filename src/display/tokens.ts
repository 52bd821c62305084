/** A number of tokens with about three digits: `850`, `12.3k`, `4.5M`. */
export const showTokens = (tokens: number): string => {
  if (tokens < 1000) return String(tokens);
  // A value that rounds to 1000.0k is 1.0M.
  const [divisor, unit] = tokens < 999_950 ? [1000, "k"] : [1_000_000, "M"];
  return `${(tokens / divisor).toFixed(1)}${unit}`;
};

/** Dollars: `$0.0031`, `$12.40`. */
export const showCost = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
