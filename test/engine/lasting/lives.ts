import { setImmediate as nextTick } from "node:timers/promises";
import * as Effect from "effect/Effect";
import { onTestFinished } from "vitest";
import { interruptible } from "../../../src/boundary/interruptible.ts";
import { Turns } from "../../../src/boundary/turns.ts";
import { Lifecycle } from "../../../src/engine/lasting/lifecycle.ts";
import { RunProgress } from "../../../src/engine/session/runProgress.ts";
import type { Kept, Session } from "../../../src/engine/session/session.ts";
import { Redactor } from "../../../src/redaction/redactor.ts";

interface LifeOptions {
  readonly what?: "sandbox" | "worktree";
  readonly turns?: Turns;
  /** Shared by those who are looked at together. */
  readonly happened?: string[];
  readonly atClose?: (progress: RunProgress) => void;
}

/** The check of a call whose options are as they should be. */
export const accept = () => {};

/** A life with nothing in it but what the test puts there. */
export const live = ({ what = "sandbox", turns = new Turns(), happened = [], atClose }: LifeOptions = {}) => {
  const progress = new RunProgress("run", "main", "/nonexistent/run.log", new Redactor(new Map()), () => {});
  progress.warn("said by the making");
  const kept = {
    session: {
      progress,
      plan: { name: undefined, runId: "run" },
      journal: { runDirectory: "/nonexistent" },
    } as unknown as Session,
    value: undefined,
    close: Effect.sync(() => {
      happened.push(`${what} closed`);
      atClose?.(progress);
    }),
  } satisfies Kept<undefined>;
  const lifecycle = new Lifecycle(what, kept, turns, Effect.succeed([]));
  onTestFinished(async () => void (await lifecycle.close().catch(() => {})));

  /** A call that goes on until it is told to end, or is stopped; then it tidies up, which takes a moment. */
  const call = (name: string, signal?: AbortSignal) => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const work = interruptible(
      (stopped) =>
        new Promise<string>((resolve, reject) => {
          happened.push(`${name} began`);
          void finished.then(() => resolve(name));
          stopped.addEventListener("abort", () => reject(stopped.reason), { once: true });
        }),
    ).pipe(
      Effect.ensuring(
        Effect.promise(async () => {
          await nextTick();
          happened.push(`${name} ended`);
        }),
      ),
    );
    const result = lifecycle.call({ ...(signal && { signal }) }, accept, () => work);
    result.catch(() => {});
    return { result, finish: () => finish() };
  };
  return { lifecycle, call, happened };
};

export const reasonOf = (result: Promise<unknown>): Promise<unknown> =>
  result.then(
    () => {
      throw new Error("was expected to reject");
    },
    (reason) => reason,
  );

/** Lets everything happen that can. */
export const settle = async () => {
  for (let round = 0; round < 10; round++) await nextTick();
};
