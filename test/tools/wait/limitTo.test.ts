import { expect, it } from "vitest";
import { limitTo } from "../../../src/tools/wait/limitTo.ts";

/** A task that is over when it is told so. */
const task = () => {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const state = { hasBegun: false, end };
  return {
    state,
    run: async () => {
      state.hasBegun = true;
      await over;
    },
  };
};

it("lets so many tasks run at a time, and the next one when one is over", async () => {
  const limit = limitTo(2);
  const tasks = [task(), task(), task(), task()];
  const running = tasks.map(({ run }) => limit(run));
  const begun = () => tasks.map(({ state }) => state.hasBegun);
  await Promise.resolve();
  expect(begun()).toEqual([true, true, false, false]);
  tasks[1]?.state.end();
  await running[1];
  expect(begun()).toEqual([true, true, true, false]);
  for (const { state } of tasks) state.end();
  await Promise.all(running);
  expect(begun()).toEqual([true, true, true, true]);
});

it("goes on after a task that has failed", async () => {
  const limit = limitTo(1);
  await expect(limit(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await limit(async () => "yes")).toBe("yes");
});

it("never runs what is aborted while it waits, and keeps its place for nobody", async () => {
  const limit = limitTo(1);
  const first = task();
  const running = limit(first.run);
  const controller = new AbortController();
  const second = task();
  const waiting = limit(second.run, controller.signal);
  const third = limit(async () => "third");
  controller.abort("too late");
  await expect(waiting).rejects.toBe("too late");
  first.state.end();
  await running;
  expect(await third).toBe("third");
  expect(second.state.hasBegun).toBe(false);
});

it("refuses what is aborted already", async () => {
  const never = task();
  await expect(limitTo(1)(never.run, AbortSignal.abort("over"))).rejects.toBe("over");
  expect(never.state.hasBegun).toBe(false);
});
