import { join } from "node:path";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxLostError, type SandduneError } from "../../errors.ts";
import { exportWork, landExport, type SandboxWork } from "../landing/importWork.ts";

/** How much work a lost sandbox may cost, in milliseconds: so often is it imported while the agent works. */
export const ImportInterval = Context.Reference<number>("sanddune/ImportInterval", {
  defaultValue: () => 60_000,
});

/** In a large repository, looking for changes takes a while: it gets at most this share of the agent's time. */
const SHARE = 1 / 10;

/** An export that takes longer is left to the import at the end of the iteration, which is more patient. */
const TIMEOUT_MS = 2 * 60_000;

/**
 * Only packing may be interrupted: once a bundle is on the host, the branch and the files of the worktree follow it
 * together.
 */
const importNow = (work: SandboxWork): Effect.Effect<void, SandduneError> => {
  const bundlePath = join(work.session.journal.filesDirectory, "meanwhile.bundle");
  const moment = { failed: false, isPacked: false, timeoutMs: TIMEOUT_MS };
  return Effect.uninterruptibleMask((restore) =>
    restore(exportWork(work, bundlePath, moment)).pipe(
      Effect.flatMap((exported) => landExport(work, exported)),
    ),
  );
};

/** Checkpoints and imports use the same ref of the sandbox: no checkpoint is taken meanwhile. */
const betweenCheckpoints = (work: SandboxWork): Effect.Effect<void, SandduneError> => {
  const checkpoints = work.trajectory?.checkpoints;
  if (checkpoints === undefined) return importNow(work);
  return Effect.acquireUseRelease(
    Effect.sync(() => checkpoints.hold()),
    () =>
      Effect.andThen(
        interruptible(() => checkpoints.idle),
        importNow(work),
      ),
    () => Effect.sync(() => checkpoints.resume()),
  );
};

/**
 * Imports what the agent has done so far, again and again until it is interrupted. Only where the sandbox has files of its
 * own, which are lost with it; elsewhere they are on the host anyway. A failure is not the run's: the agent may be changing
 * its repository at this very moment, and the import at the end of the iteration says what is wrong if it stays wrong.
 */
export const importWhileWorking = Effect.fnUntraced(function* (work: SandboxWork): Effect.fn.Return<never> {
  if (work.sandbox.files === undefined) return yield* Effect.never;
  const intervalMs = yield* ImportInterval;
  const clock = yield* Clock.Clock;
  for (let pauseMs = intervalMs; ; ) {
    yield* Effect.sleep(pauseMs);
    const begunAt = clock.currentTimeMillisUnsafe();
    const isLost = yield* betweenCheckpoints(work).pipe(
      Effect.as(false),
      Effect.catch((error) => Effect.succeed(error instanceof SandboxLostError)),
    );
    if (isLost) return yield* Effect.never;
    pauseMs = Math.max(intervalMs, (clock.currentTimeMillisUnsafe() - begunAt) / SHARE);
  }
});
