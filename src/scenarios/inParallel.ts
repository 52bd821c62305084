/**
 * Does something with each item, at most `concurrency` at a time, in order. The first failure keeps further items from
 * being begun; it is thrown once what had been begun is over.
 */
export const inParallel = async <Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const rest = items.values();
  let failure: { readonly reason: unknown } | undefined;
  const worker = async () => {
    for (const item of rest) {
      try {
        await work(item);
      } catch (reason) {
        failure ??= { reason };
      }
      if (failure !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (failure !== undefined) throw failure.reason;
};
