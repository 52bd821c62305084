import { expect, it } from "vitest";
import { inParallel } from "../../../src/tools/wait/inParallel.ts";

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

it("does as many things at a time as it may, and begins them in order", async () => {
  const begun: number[] = [];
  let atWork = 0;
  let most = 0;
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    most = Math.max(most, ++atWork);
    await nextTick();
    atWork--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it("begins nothing after a failure, and tells of it once what was begun is over", async () => {
  const over: number[] = [];
  const failing = inParallel([1, 2, 3, 4], 2, async (item) => {
    await nextTick();
    if (item === 1) throw new Error("first");
    await nextTick();
    over.push(item);
  });
  await expect(failing).rejects.toThrow("first");
  expect(over).toEqual([2]);
});

it("does nothing with nothing", async () => {
  await inParallel([], 4, () => expect.unreachable());
});

it("takes an item when there is room for it, and not before", async () => {
  let taken = 0;
  let over = 0;
  let mostAhead = 0;
  async function* items() {
    while (taken < 100) {
      mostAhead = Math.max(mostAhead, ++taken - over);
      yield taken;
    }
  }
  await inParallel(items(), 3, async () => {
    await nextTick();
    over++;
  });
  expect({ taken, over, mostAhead }).toEqual({ taken: 100, over: 100, mostAhead: 3 });
});

it("lets the source tidy up when it is left in the middle, by a failure or by an abort", async () => {
  const left: string[] = [];
  function* items(name: string) {
    try {
      for (let item = 0; ; item++) yield item;
    } finally {
      left.push(name);
    }
  }
  const failing = inParallel(items("failure"), 2, async () => {
    throw new Error("first");
  });
  await expect(failing).rejects.toThrow("first");
  const stop = new AbortController();
  await inParallel(items("abort"), 2, async () => stop.abort(), stop.signal);
  expect(left).toEqual(["failure", "abort"]);
});

it("tells what the source has thrown once what was begun is over", async () => {
  const over: number[] = [];
  async function* items() {
    yield 1;
    yield 2;
    throw new Error("no more");
  }
  const failing = inParallel(items(), 5, async (item) => {
    await nextTick();
    over.push(item);
  });
  await expect(failing).rejects.toThrow("no more");
  expect(over).toEqual([1, 2]);
});

it("does not wait for a source that has nothing more to give when it is aborted", async () => {
  const stop = new AbortController();
  const over: number[] = [];
  async function* items() {
    yield 1;
    await new Promise(() => {});
  }
  await inParallel(
    items(),
    2,
    async (item) => {
      await nextTick();
      over.push(item);
      stop.abort();
    },
    stop.signal,
  );
  expect(over).toEqual([1]);
});

it("begins nothing if it was aborted before", async () => {
  await inParallel([1, 2], 2, () => expect.unreachable(), AbortSignal.abort());
});
