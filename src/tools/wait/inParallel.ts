import { onAbort } from "./onAbort.ts";

/** A list, or anything else that gives its items one after the other. */
export type Source<Item> = Iterable<Item> | AsyncIterable<Item>;

const iteratorOf = <Item>(items: Source<Item>): Iterator<Item> | AsyncIterator<Item> =>
  Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();

/** Waits for an item, but not longer than until the abort: a source may be waiting for something that never comes. */
const nextUnlessAborted = <Item>(
  source: Iterator<Item> | AsyncIterator<Item>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<Item> | undefined> =>
  new Promise((resolve, reject) => {
    const stopWaiting = onAbort(signal, () => resolve(undefined));
    Promise.resolve(source.next()).then(resolve, reject).finally(stopWaiting);
  });

/** Not waited for, and no failure: what a source does that is left in the middle is its own affair. */
const leave = async (source: Iterator<unknown> | AsyncIterator<unknown>): Promise<void> => {
  try {
    await source.return?.();
  } catch {}
};

/**
 * Does something with each item, at most `concurrency` at a time, in order. An item is taken when there is room for it, and
 * not before. The first failure, of an item or of the source, keeps further ones from being begun; it is thrown once what
 * had been begun is over. An abort of `signal` keeps further ones from being begun, too, and is no failure.
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
  // Called when one is over: a race between all of them would remember every round of it in the one that lasts longest.
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
