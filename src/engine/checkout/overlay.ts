import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { isTrue } from "../../git/configFile.ts";
import { ensureGitDirectoryPart } from "../../git/gitDirectoryParts.ts";
import {
  discardOverlay,
  type OverlayCheckout,
  openOverlay,
  overlayCopyIn,
} from "../../git/overlay/overlayCheckout.ts";
import type { OverlaySetup } from "../../git/overlay/overlayLayer.ts";
import { makeOverlayDirectory, overlayDirectoryOf } from "../../git/overlay/overlayRun.ts";
import { isOverlayDirty } from "../../git/overlay/overlayStatus.ts";
import { withTrialDirectory } from "../../git/overlay/trialDirectory.ts";
import { verifyShared } from "../../git/overlay/verifyShared.ts";
import { writeOutOverlay } from "../../git/overlay/writeOut.ts";
import type { SetupRecord } from "../../git/setups/keptSetup.ts";
import { isOwn } from "../../git/sharedDirectories/sharedDirectory.ts";
import type { SourceBranch } from "../../git/worktrees/worktrees.ts";
import { ensureConfigDirectoryPart } from "../../options/configDirectory.ts";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { CheckoutPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import type { CheckoutSession } from "./checkoutSession.ts";

/** Of an index with about 1,000 files. To write fewer takes less time than to mount an overlay. */
const MIN_INDEX_BYTES = 100_000;

/** Of a kept set-up: to copy fewer takes less time than to mount an overlay. */
const MIN_KEPT_FILES = 200;

/** Git writes only a part of the files then, which an overlay cannot show. */
const isSparse = ({ plan }: Session): boolean => isTrue(plan.host.config, "core.sparsecheckout");

/** A split index has its entries in a second file. */
const indexBytes = (gitDirectory: string): number =>
  Math.max(
    0,
    ...readdirSync(gitDirectory)
      .filter((name) => name === "index" || name.startsWith("sharedindex."))
      .map((name) => orUndefined(() => statSync(join(gitDirectory, name)).size) ?? 0),
  );

const refusing = new WeakSet<SandboxProvider>();

/** The provider's engine has refused an overlay that this process could mount. It would refuse the next one, too. */
export const noteRefusal = (provider: SandboxProvider): void => {
  refusing.add(provider);
};

/**
 * Whether the files of a new worktree become an overlay: they are many, with those of a kept set-up, nothing on the host needs them,
 * and it is possible.
 */
export const choosesOverlay = (
  session: Session,
  { overlayProblem, stacksLayers, setup: sandbox }: CheckoutPlan,
  source: SourceBranch,
  kept?: Pick<SetupRecord, "files">,
): Effect.Effect<boolean, SandduneError> => {
  const { repository } = session.plan;
  const isLarge = indexBytes(repository.gitDirectory) >= MIN_INDEX_BYTES;
  const isWorthIt = isLarge || (stacksLayers && (kept?.files ?? 0) >= MIN_KEPT_FILES);
  if (overlayProblem === undefined || source.isRegistered || !isWorthIt || isSparse(session))
    return Effect.succeed(false);
  if (sandbox !== undefined && refusing.has(sandbox.provider)) return Effect.succeed(false);
  // Their owner could exchange what is in them.
  const directories = (["checkouts", "overlays"] as const).map((part) =>
    ensureGitDirectoryPart(repository, part),
  );
  if (!directories.every(isOwn)) return Effect.succeed(false);
  return interruptible(() => withTrialDirectory(repository, overlayProblem)).pipe(
    Effect.map((problem) => problem === undefined),
    // A run does not need one.
    Effect.catch(() => Effect.succeed(false)),
  );
};

/** Makes the overlay of a session, with the files that its branch starts with. */
export const openSessionOverlay = (
  { plan, journal }: Session,
  checkout: CheckoutSession,
  branch: string,
  kept: OverlaySetup | undefined,
): Effect.Effect<OverlayCheckout, SandduneError> =>
  Effect.suspend(() => {
    const { repository, host, runId, sandboxName: sandbox } = plan;
    const { strategy } = plan.branches;
    const { tip: commit } = checkout;
    const run = { branch, commit, strategy, sandbox, owner: ownIdentity() };
    const directory = makeOverlayDirectory(repository, runId, run);
    const copyPath = overlayCopyIn(journal.filesDirectory);
    return openOverlay(repository, host.config, { directory, copyPath, commit, worktree: checkout, kept });
  });

/** Removes the overlay of a session, unless it holds work that is not in the worktree, or may. */
export const removeOverlay = ({ plan, progress, keepsOverlay }: Session): Effect.Effect<void> =>
  Effect.suspend(() => {
    const directory = overlayDirectoryOf(plan.repository, plan.runId);
    if (keepsOverlay || !existsSync(directory)) return Effect.void;
    return discardOverlay(directory).pipe(
      Effect.map((left) => {
        if (left !== undefined)
          progress.warn(`Files of the overlay could not be deleted. They are in ${left}.`);
      }),
      Effect.catch((error) =>
        Effect.sync(() => progress.warn(`${directory} could not be removed: ${error.message}`)),
      ),
    );
  });

/** Longer than git looks at 100,000 files, and not long for the end of a run. */
const VERIFYING_MS = 5000;

/**
 * Verifies the shared checkout of an overlay while the agent works. The scope waits a little for that, unless the run was aborted; a
 * later run verifies it then.
 */
export const verifyWhileWorking = Effect.fnUntraced(function* (
  { plan, progress }: Session,
  overlay: OverlayCheckout,
): Effect.fn.Return<void, never, Scope.Scope> {
  const verifying = yield* Effect.forkScoped(
    Effect.map(verifyShared(plan.repository, overlay), (changed) => {
      if (changed !== undefined)
        progress.warn(
          `Files in ${changed} were changed, which only sanddune writes to. The agent may have started with the changed files; the next run gets new ones.`,
        );
    }),
  );
  yield* Effect.addFinalizer((exit) => {
    const isAborted = exit._tag === "Failure" && Cause.hasInterrupts(exit.cause);
    const waiting = isAborted ? Effect.void : Effect.timeoutOption(Fiber.await(verifying), VERIFYING_MS);
    return Effect.andThen(waiting, Fiber.interrupt(verifying));
  });
});

/** Writes the overlay out as a real worktree. Afterwards the checkout is like any other. */
export const writeOut = (session: Session, checkout: CheckoutSession): Effect.Effect<void, SandduneError> =>
  Effect.suspend(() => {
    const { overlay, repository } = checkout;
    if (overlay === undefined) return Effect.void;
    // The user may have deleted them.
    for (const part of ["worktrees", "runs"] as const)
      ensureConfigDirectoryPart(repository.configDirectory, part);
    return writeOutOverlay(overlay, checkout).pipe(
      Effect.map((undeletable) => {
        if (undeletable !== undefined)
          session.progress.warn(`Files of the overlay could not be deleted. They are in ${undeletable}.`);
        checkout.overlay = undefined;
        session.keepsOverlay = false;
        checkout.indexAt = overlay.commit;
      }),
    );
  });

const SURVIVAL = "Its sandbox could not be closed, and may still change them.";

/** The overlay stays where it is, if its files cannot be written to the worktree. */
const keepUnwritten = (session: Session, { path, overlay }: CheckoutSession, cause: unknown): string => {
  const problem = cause instanceof Error ? cause.message : String(cause);
  session.progress.warn(
    `The agent's files could not be written to ${path}, which is empty: ${problem} They are kept in ${overlay?.directory}. To try again: ${sandduneCommand("rescue", session.plan.runId)}`,
  );
  return "its files could not be written to it";
};

/**
 * Writes the overlay out if it holds uncommitted work, or if there is another reason to keep the files. Succeeds with the reason to
 * keep the worktree even if it is clean. Until one of both is certain the overlay stays, whatever goes wrong.
 */
export const keepOverlay = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  reason: string | undefined,
): Effect.fn.Return<string | undefined> {
  const { overlay } = checkout;
  if (overlay === undefined) return reason;
  if (checkout.survivor !== undefined) return keepUnwritten(session, checkout, SURVIVAL);
  const isDirty =
    reason !== undefined ||
    (yield* Effect.suspend(() => isOverlayDirty(overlay, checkout, checkout.tip)).pipe(
      // If git cannot tell, the files are kept.
      Effect.catchCause(() => Effect.succeed(true)),
    ));
  if (!isDirty) {
    session.keepsOverlay = false;
    return undefined;
  }
  return yield* writeOut(session, checkout).pipe(
    Effect.as(reason),
    Effect.catchCause((cause) => Effect.sync(() => keepUnwritten(session, checkout, Cause.squash(cause)))),
  );
});
