import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import { RunStoppedError } from "../../errors.ts";
import { onStopRequest } from "../../runs/journal/stopRequest.ts";
import type { Journal } from "../../runs/journal/writeJournal.ts";

/** Interrupts the work when `sanddune stop` requests it, like an abort. */
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
