import { expect, it } from "vitest";
import { TurnTime } from "../../../src/tools/wait/turnTime.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it("reads the clock once in a turn of the event loop, and again in the next one", async () => {
  const time = new TurnTime();
  const before = Date.now();
  const first = time.now();
  expect(first.getTime()).toBeGreaterThanOrEqual(before);
  while (Date.now() === first.getTime());
  expect(time.now()).toBe(first);
  await nextTurn();
  expect(time.now().getTime()).toBeGreaterThan(first.getTime());
});
