import { expect, it } from "vitest";
import { SandboxLostError } from "../../../src/errors.ts";
import { type Heartbeat, watch } from "../../../src/sandboxes/exec/heartbeat.ts";

const MISSED = new Error("no answer");

/** Watches a sandbox that answers as told, one beat after the other; the last answer ends the watch. */
const watchAnswers = async (
  answers: readonly ("here" | "missed")[],
  misses: number,
): Promise<{ readonly lost: unknown[]; readonly beats: number }> => {
  const over = new AbortController();
  const lost: unknown[] = [];
  let beats = 0;
  const beat: Heartbeat["beat"] = async () => {
    const answer = answers[beats++];
    if (beats >= answers.length) over.abort();
    if (answer === "missed") throw MISSED;
  };
  await watch({ everyMs: 1, misses, beat }, over.signal, (error) => lost.push(error));
  return { lost, beats };
};

it("a sandbox is lost when it has failed to answer once more than it may", async () => {
  const { lost, beats } = await watchAnswers(["here", "missed", "missed", "missed", "here", "here"], 2);
  expect(lost).toEqual([MISSED]);
  expect(beats).toBe(4);
});

it("an answer makes up for those that were missed", async () => {
  const answers = ["missed", "missed", "here", "missed", "missed", "here"] as const;
  expect(await watchAnswers(answers, 2)).toEqual({ lost: [], beats: 6 });
});

it("a beat that fails after the watch has ended is no loss", async () => {
  expect(await watchAnswers(["here", "missed"], 0)).toEqual({ lost: [], beats: 2 });
});

it("a sandbox that is known to be gone is not asked twice", async () => {
  const gone = new SandboxLostError("test", "it was stopped");
  const lost: unknown[] = [];
  let beats = 0;
  const beat = async () => {
    beats++;
    throw gone;
  };
  await watch({ everyMs: 1, misses: 5, beat }, new AbortController().signal, (error) => lost.push(error));
  expect(lost).toEqual([gone]);
  expect(beats).toBe(1);
});

it("a beat that never ends is a missed one, and is aborted", async () => {
  const lost: unknown[] = [];
  const signals: AbortSignal[] = [];
  const beat = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<void>(() => {});
  };
  await watch({ everyMs: 1, misses: 1, timeoutMs: 20, beat }, new AbortController().signal, (error) =>
    lost.push(error),
  );
  expect(lost).toMatchObject([{ message: "there was no answer within 20 ms" }]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

it("the end of the watch ends a beat that is under way", async () => {
  const over = new AbortController();
  let given: AbortSignal | undefined;
  const beat = (signal: AbortSignal) => {
    given = signal;
    setImmediate(() => over.abort());
    return new Promise<void>(() => {});
  };
  await watch({ everyMs: 1, misses: 0, beat }, over.signal, () => expect.unreachable());
  expect(given?.aborted).toBe(true);
});
