import { expect, it } from "vitest";
import { sharedAnswer } from "../../../src/tools/wait/sharedAnswer.ts";

const counting = (freshMs: number, answer: (count: number) => Promise<number> = async (count) => count) => {
  let count = 0;
  return sharedAnswer(freshMs, () => answer(++count));
};

it("asks once for all who want to know at the same time", async () => {
  const ask = counting(0);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
});

it("asks again once the answer is old", async () => {
  const ask = counting(0);
  expect([await ask(), await ask()]).toEqual([1, 2]);
});

it("passes an answer on for as long as it is fresh", async () => {
  const ask = counting(Number.POSITIVE_INFINITY);
  expect([await ask(), await ask()]).toEqual([1, 1]);
});

it("shares a failure with those who waited for it, and with nobody else", async () => {
  const ask = counting(Number.POSITIVE_INFINITY, async (count) => {
    if (count === 1) throw new Error("not now");
    return count;
  });
  const outcomes = await Promise.allSettled([ask(), ask()]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await ask()).toBe(2);
});
