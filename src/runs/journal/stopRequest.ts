import { existsSync, unwatchFile, watchFile } from "node:fs";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import { RunStoppedError } from "../../errors.ts";
import { type Journal, stopRequestPath } from "./writeJournal.ts";

/** Looked for rather than watched: that works on every file system, and never runs out of watches. */
const LOOK_EVERY_MS = 250;

/** Calls back when somebody asks for the session to be stopped; once, and not after the answer has been called. */
export const onStopRequest = ({ runDirectory }: Journal, stop: () => void): (() => void) => {
  const path = stopRequestPath(runDirectory);
  const look = (): void => {
    if (!existsSync(path)) return;
    unwatchFile(path, look);
    stop();
  };
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, look);
  // Watching tells of changes only: one that was there before is found here.
  const first = setImmediate(look);
  return () => {
    clearImmediate(first);
    unwatchFile(path, look);
  };
};

/** Work that ends when somebody asks for its session to be stopped, as it would by an abort. */
export const stoppable = <A, E, R>(
  journal: Journal,
  runId: string,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | RunStoppedError, R> =>
  Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore): Effect.fn.Return<A, E | RunStoppedError, R> {
      const fiber = yield* Effect.forkChild(work);
      let isStopped = false;
      const stopLooking = onStopRequest(journal, () => {
        isStopped = true;
        fiber.interruptUnsafe();
      });
      const exit = yield* restore(Fiber.await(fiber)).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber)),
        Effect.ensuring(Effect.sync(stopLooking)),
      );
      if (isStopped && Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) {
        return yield* Effect.fail(new RunStoppedError(runId));
      }
      return yield* exit;
    }),
  );
