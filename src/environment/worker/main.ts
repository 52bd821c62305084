import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { boundResults } from "../results/boundResults.ts";
import { failureMessage } from "./failureMessage.ts";
import type { SuiteOutcome, WorkerReply, WorkerRequest } from "./messages.ts";
import { Tasks } from "./tasks.ts";

/** Where requests come from and replies go to: not a standard stream, which tests print to. */
const CHANNEL = 3;

/** Less than a message can have, more than an answer may: not all of it may be wanted. */
const MAX_SUITE_BYTES = 7 * 1024 * 1024;

/** How long what runs outside of this process may take to end, when nobody waits for it any more. */
const ABANDON_MS = 1000;

const bounded = ({ tests, error }: SuiteOutcome): SuiteOutcome => {
  const failed = tests.filter(({ passed }) => !passed).length;
  const counts = { path: "", passed: tests.length - failed, failed, total: tests.length };
  const results = boundResults({ ...counts, tests, error }, MAX_SUITE_BYTES);
  const leftOut = tests.length - results.tests.length;
  return leftOut === 0
    ? results
    : { ...results, error: `${leftOut} tests of the suite are left out: they are too many.` };
};

/**
 * The child process of a test session: does what it is asked to, one thing after the other, until nobody is there to ask.
 * Resolves with the exit code then. What a test throws where nobody can catch it is a failure of that test.
 */
export const runWorker = async (): Promise<number> => {
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true });
  const tasks = new Tasks();
  let failCurrent: ((reason: unknown) => void) | undefined;
  const reply = (message: WorkerReply) => void channel.write(`${JSON.stringify(message)}\n`);

  const perform = async ({ id, ...task }: WorkerRequest): Promise<void> => {
    let isSpent = false;
    const stray = new Promise<never>((_, reject) => {
      failCurrent = (reason) => {
        isSpent = true;
        reject(reason);
      };
    });
    try {
      const value = await Promise.race([tasks.perform(task), stray]);
      reply({ id, isDone: true, value: task.type === "suite" ? bounded(value as SuiteOutcome) : value });
    } catch (reason) {
      reply({ id, isDone: false, message: failureMessage(reason), isSpent });
    } finally {
      failCurrent = undefined;
    }
  };

  const onStray = (reason: unknown) => failCurrent?.(reason);
  process.on("uncaughtException", onStray).on("unhandledRejection", onStray);
  let last = Promise.resolve();
  const requests = new LineSplitter((line) => {
    last = last.then(() => perform(JSON.parse(line) as WorkerRequest));
  });
  channel.on("data", (chunk) => requests.push(chunk));
  await new Promise<void>((resolve) => {
    channel.once("error", () => resolve()).once("end", resolve);
  });
  tasks.abandon();
  await delay(ABANDON_MS);
  return 1;
};
