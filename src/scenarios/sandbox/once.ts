/** A function that does its work once, however often it is called. */
export const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let result: Promise<void> | undefined;
  return () => {
    result ??= work();
    return result;
  };
};
