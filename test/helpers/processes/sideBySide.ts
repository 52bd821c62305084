import { AsyncLocalStorage } from "node:async_hooks";
import { aroundEach, describe, onTestFinished, type TestContext } from "vitest";

const currentTest = new AsyncLocalStorage<TestContext>();

/** Tests that mostly wait, some of them at a time. None may change what belongs to the process: its environment, its directory. */
export const describeSideBySide = (title: string, body: () => void): void => {
  describe.concurrent(title, () => {
    aroundEach((runTest, context) => currentTest.run(context, runTest));
    body();
  });
};

/** Something to do after the test. Vitest's own function does not know which test calls it where there are some at a time. */
export const afterTest = (action: () => void | Promise<void>): void => {
  const test = currentTest.getStore();
  if (test === undefined) onTestFinished(action);
  else test.onTestFinished(action);
};
