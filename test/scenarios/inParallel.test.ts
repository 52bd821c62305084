import { expect, it } from "vitest";
import { inParallel } from "../../src/scenarios/inParallel.ts";

it("does as many things at a time as it may, and begins them in order", async () => {
  const begun: number[] = [];
  let atWork = 0;
  let most = 0;
  await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    most = Math.max(most, ++atWork);
    await new Promise((resolve) => setImmediate(resolve));
    atWork--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it("begins nothing after a failure, and tells of it once what was begun is over", async () => {
  const over: number[] = [];
  const failing = inParallel([1, 2, 3, 4], 2, async (item) => {
    if (item === 1) throw new Error("first");
    await new Promise((resolve) => setImmediate(resolve));
    over.push(item);
  });
  await expect(failing).rejects.toThrow("first");
  expect(over).toEqual([2]);
});

it("does nothing with nothing", async () => {
  await inParallel([], 4, () => expect.unreachable());
});
