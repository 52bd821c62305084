import { join } from "node:path";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { LockTimeoutError } from "../../../src/errors.ts";
import { tryLock } from "../../../src/git/locks/lockFile.ts";
import { lockMerges, locksDirectory } from "../../../src/git/locks/locks.ts";
import type { Repository } from "../../../src/git/repository.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const NAP_MS = 15_000;
const NOBODY = "";

/** Whoever sleeps sleeps for a quarter of a minute, and takes no time. `onWake` gets the minutes since the beginning. */
const quickClock = (onWake: (minutes: number) => void): Clock.Clock => {
  let ms = 0;
  const nanos = () => BigInt(ms) * 1_000_000n;
  return {
    currentTimeMillisUnsafe: () => ms,
    currentTimeMillis: Effect.sync(() => ms),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: () =>
      Effect.sync(() => {
        ms += NAP_MS;
        onWake(ms / 60_000);
      }),
  };
};

/** Waits for the merge lock of a repository, which others have in turn: their names by the minute when they get it. */
const waitForLock = async (owners: Readonly<Record<number, string>>): Promise<unknown> => {
  const repository = { commonDirectory: temporaryDirectory() } as Repository;
  const path = join(locksDirectory(repository), "merge.lock");
  let release = () => {};
  const handOver = (minutes: number) => {
    const owner = owners[minutes];
    if (owner === undefined) return;
    release();
    release = () => {};
    if (owner === NOBODY) return;
    const attempt = tryLock(path, owner);
    if (!attempt.acquired) throw new Error(`${owner} did not get the lock`);
    release = attempt.release;
  };
  handOver(0);
  const waiting = Effect.scoped(lockMerges(repository, "waiting").pipe(Effect.as("taken")));
  return Effect.runPromise(
    Effect.result(waiting).pipe(Effect.provideService(Clock.Clock, quickClock(handOver))),
  );
};

it("is waited for as long as its owners make way for each other, however long that is in all", async () => {
  const result = await waitForLock({ 0: "the first", 3: "the second", 7: NOBODY });
  expect(result).toMatchObject({ _tag: "Success", success: "taken" });
});

it("is given up when one owner keeps it for five minutes, and that owner is named", async () => {
  const result = await waitForLock({ 0: "the first", 1: "the last", 7: NOBODY });
  expect(result).toMatchObject({ _tag: "Failure", failure: { owner: expect.stringContaining("the last") } });
  expect((result as { failure: unknown }).failure).toBeInstanceOf(LockTimeoutError);
});
