import { join } from "node:path";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxLostError, type SandduneError } from "../../errors.ts";
import { exportWork, landExport, type SandboxWork } from "../landing/importWork.ts";

/** How often work is imported while the agent works, in milliseconds: the most that a lost sandbox can cost. */
export const ImportInterval = Context.Reference<number>("sanddune/ImportInterval", {
  defaultValue: () => 60_000,
});

/** Looking for changes is slow in a large repository, so it takes at most this share of the time. */
const SHARE = 1 / 10;

/** The import at the end of the iteration has a longer limit. */
const TIMEOUT_MS = 2 * 60_000;

/** Only packing can be interrupted: later, the branch and the worktree's files must change together. */
const importNow = (work: SandboxWork): Effect.Effect<void, SandduneError> => {
  const bundlePath = join(work.session.journal.filesDirectory, "meanwhile.bundle");
  const moment = { failed: false, isPacked: false, timeoutMs: TIMEOUT_MS };
  return Effect.uninterruptibleMask((restore) =>
    restore(exportWork(work, bundlePath, moment)).pipe(
      Effect.flatMap((exported) => landExport(work, exported, { isLast: false })),
    ),
  );
};

/** Pauses checkpoints, because they use the same ref in the sandbox. */
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
 * Imports the agent's work at intervals until it is interrupted. Only for isolated sandboxes, whose files are lost
 * with them; the files of other sandboxes are on the host. Failures are ignored: the agent may be changing its
 * repository at that moment, and the import at the end of the iteration reports a lasting problem.
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
