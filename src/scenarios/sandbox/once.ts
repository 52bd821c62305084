/** A function that calls `work` only once, and always returns the same promise. */
export const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let result: Promise<void> | undefined;
  return () => {
    result ??= work();
    return result;
  };
};
