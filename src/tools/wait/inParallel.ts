import { onAbort } from "./onAbort.ts";

/** A list, or a generator of items. */
export type Source<Item> = Iterable<Item> | AsyncIterable<Item>;

const iteratorOf = <Item>(items: Source<Item>): Iterator<Item> | AsyncIterator<Item> =>
  Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();

/** Waits for the next item until the abort: a source may wait for something that never comes. */
const nextUnlessAborted = <Item>(
  source: Iterator<Item> | AsyncIterator<Item>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Item> | undefined> =>
  new Promise((resolve, reject) => {
    const stopWaiting = onAbort(signal, () => resolve(undefined));
    Promise.resolve(source.next()).then(resolve, reject).finally(stopWaiting);
  });

/** Ends a source early. A failure of that is ignored. */
const leave = async (source: Iterator<unknown> | AsyncIterator<unknown>): Promise<void> => {
  try {
    await source.return?.();
  } catch {}
};

/**
 * Use it to process items in order, at most `concurrency` at a time. An item is taken from the source when its work can start,
 * and not before. After the first failure, of an item or of the source, no work starts; the failure is thrown once all work
 * has ended. After an abort of `signal`, no work starts either, and that is not a failure.
 */
export const inParallel = async <Item>(
  items: Source<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> => {
  const source = iteratorOf(items);
  let failure: { readonly reason: unknown } | undefined;
  let atWork = 0;
  // Called when an item is done. A Promise.race() of all items would leak: the longest one keeps the handlers of every round.
  let onEnd = () => {};
  const oneEnds = () =>
    new Promise<void>((resolve) => {
      onEnd = resolve;
    });
  const begin = async (item: Item) => {
    atWork++;
    try {
      await work(item);
    } catch (reason) {
      failure ??= { reason };
    }
    atWork--;
    onEnd();
  };
  const isStopped = () => failure !== undefined || signal?.aborted === true;

  let isExhausted = false;
  try {
    while (!isStopped()) {
      const next = await nextUnlessAborted(source, signal);
      if (next?.done) isExhausted = true;
      if (next === undefined || next.done || isStopped()) break;
      void begin(next.value);
      while (atWork >= concurrency && !isStopped()) await oneEnds();
    }
  } catch (reason) {
    isExhausted = true;
    failure ??= { reason };
  }
  if (!isExhausted) void leave(source);
  while (atWork > 0) await oneEnds();
  if (failure !== undefined) throw failure.reason;
};
