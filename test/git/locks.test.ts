import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as TestClock from "effect/testing/TestClock";
import { expect, it } from "vitest";
import { LockTimeoutError } from "../../src/errors.ts";
import { tryLock } from "../../src/git/lockFile.ts";
import { lockMerges, locksDirectory } from "../../src/git/locks.ts";
import type { Repository } from "../../src/git/repository.ts";
import { temporaryDirectory } from "../helpers/repository.ts";

/** Waits for the merge lock of a repository while the test moves the clock and the lock. */
const waitForLock = <A>(
  move: (lock: { hold(owner: string): void; release(): void }) => Effect.Effect<A>,
): Promise<unknown> => {
  const repository = { commonDirectory: temporaryDirectory() } as Repository;
  const path = join(locksDirectory(repository), "merge.lock");
  let release = () => {};
  const lock = {
    hold: (owner: string) => {
      release();
      const attempt = tryLock(path, owner);
      if (!attempt.acquired) throw new Error(`${owner} did not get the lock`);
      release = attempt.release;
    },
    release: () => release(),
  };
  const program = Effect.gen(function* () {
    lock.hold("the first");
    const waiting = yield* Effect.forkChild(
      Effect.scoped(lockMerges(repository, "waiting").pipe(Effect.as("taken"))),
    );
    yield* Effect.yieldNow;
    yield* move(lock);
    return yield* Effect.result(Fiber.join(waiting));
  });
  return Effect.runPromise(program.pipe(Effect.provide(TestClock.layer())));
};

it("is waited for as long as its owners make way for each other, however long that is in all", async () => {
  const result = await waitForLock((lock) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("3 minutes");
      lock.hold("the second");
      yield* TestClock.adjust("3 minutes");
      lock.release();
      yield* TestClock.adjust("1 second");
    }),
  );
  expect(result).toMatchObject({ _tag: "Success", success: "taken" });
});

it("is given up when one owner keeps it for five minutes, and that owner is named", async () => {
  const result = await waitForLock((lock) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 minute");
      lock.hold("the last");
      yield* TestClock.adjust("301 seconds");
    }),
  );
  expect(result).toMatchObject({ _tag: "Failure", failure: { owner: expect.stringContaining("the last") } });
  expect((result as { failure: unknown }).failure).toBeInstanceOf(LockTimeoutError);
});
