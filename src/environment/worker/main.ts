import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { LineSplitter } from "../../tools/lineSplitter.ts";
import { boundResults } from "../results/boundResults.ts";
import { failureMessage } from "./failureMessage.ts";
import type { SuiteOutcome, WorkerReply, WorkerRequest } from "./messages.ts";
import { Tasks } from "./tasks.ts";

/** The file descriptor for requests and replies. Tests print to the standard streams. */
const CHANNEL = 3;

/** Less than the limit of a message, and more than the limit of an answer, which may need only a part of it. */
const MAX_SUITE_BYTES = 7 * 1024 * 1024;

/** How long child processes may take to end after the tests are abandoned. */
const ABANDON_MS = 1000;

const bounded = ({ tests, error }: SuiteOutcome): SuiteOutcome => {
  const failed = tests.filter(({ passed }) => !passed).length;
  const counts = { path: "", passed: tests.length - failed, failed, total: tests.length };
  const results = boundResults({ ...counts, tests, error }, MAX_SUITE_BYTES);
  const leftOut = tests.length - results.tests.length;
  return leftOut === 0
    ? results
    : { ...results, error: `${leftOut} tests of the suite are left out: there are too many.` };
};

/**
 * The worker process of a test session: performs one task after the other until its channel is closed, and then resolves with the
 * exit code. An uncaught error fails the running test.
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
