import { mkdir } from "node:fs/promises";

import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HostFileError, SandboxError, type SandduneError } from "../../errors.ts";
import { withoutLayer } from "../../git/overlay/overlayLayer.ts";
import { isAncestor } from "../../git/refs.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { fillSandboxHome } from "../../git/sandboxDirectory/sandboxHome.ts";
import { setupPaths } from "../../git/setups/keptSetup.ts";
import { inspectBefore, untrackedRoot } from "../../git/setups/layer.ts";
import { copyLayer, obstacle, removeLayer } from "../../git/setups/restoreLayer.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import { dropTaken, type OpenSetup, openSetup } from "./openSetup.ts";

/** Why hooks must run in this checkout, and their result must not be kept. */
const reasonToRun = ({ worktree, isUsed, openSandboxes }: CheckoutSession): string | undefined => {
  if (worktree === undefined) return "with the `head` strategy, the hooks work in your own checkout";
  if (worktree.isReused) return "the worktree is one of an earlier run";
  if (isUsed || openSandboxes > 0) return "the worktree had a sandbox before";
  return undefined;
};

/** A commit of an agent could make the hooks do anything: only those that the user has checked out fill a kept set-up. */
const reasonNotToKeep = (
  session: Session,
  { tip }: CheckoutSession,
): Effect.Effect<string | undefined, SandduneError> => {
  const { host, repository } = session.plan;
  if (tip === host.head.sha) return Effect.succeed(undefined);
  return Effect.map(isAncestor(repository.topLevel, tip, host.head.sha), (isKnown) =>
    isKnown
      ? undefined
      : "the run starts from a commit that is not in the history of your own checkout, so an agent may have written what the hooks run",
  );
};

const isMounted = ({ overlay }: CheckoutSession): boolean => overlay?.layers.layerPaths !== undefined;

/** Puts the kept files into the worktree and HOME. Drops the set-up if files are in the way. */
const restore = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  setup: OpenSetup,
): Effect.fn.Return<void, SandduneError> {
  const { taken } = setup;
  if (taken === undefined) return;
  const { layer } = setupPaths(taken.path);
  const root = untrackedRoot(checkout);
  const problem = checkout.overlay === undefined ? obstacle(checkout.path, taken.record.paths) : undefined;
  if (problem !== undefined) return dropTaken(session, setup, problem);
  const copying = isMounted(checkout) || taken.record.files === 0 ? Effect.void : copyLayer(layer, root);
  const home = taken.record.hasHome
    ? fillSandboxHome(taken.path, session.journal.filesDirectory)
    : Effect.void;
  yield* Effect.all([copying, home], { concurrency: "unbounded", discard: true });
});

/** What was looked up when the files were written, unless a hook of the host has made a commit since. */
const alreadyOpened = (checkout: CheckoutSession): OpenSetup | undefined => {
  const { setup, tip } = checkout;
  checkout.setup = undefined;
  if (setup === undefined || setup.commit === tip) return setup;
  setup.taken?.release();
  return undefined;
};

/** Finds the kept set-up of a sandbox that is about to be opened, and restores its files; `undefined` if hooks just run. */
export const prepareSetup = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  plan: SandboxPlan<SandboxProvider>,
): Effect.fn.Return<OpenSetup | undefined, SandduneError> {
  if (plan.setup === undefined) return undefined;
  const reason = reasonToRun(checkout);
  if (reason !== undefined) {
    session.display.note(`The hooks with \`cache\` run, and their result is not kept: ${reason}.`);
    return undefined;
  }
  const setup = alreadyOpened(checkout) ?? (yield* openSetup(session, plan, checkout.tip));
  if (setup === undefined) return undefined;
  if (checkout.isTouched) {
    const before = yield* inspectBefore(checkout);
    if (typeof before === "string") {
      dropTaken(session, setup, before);
      setup.reason = before;
    } else setup.before = before;
  }
  yield* restore(session, checkout, setup);
  if (setup.taken === undefined) setup.reason ??= yield* reasonNotToKeep(session, checkout);
  return setup;
});

/** Whether a sandbox could not be started because a part of the kept set-up is gone, such as an image that someone removed. */
export const isSetupMissing = (setup: OpenSetup | undefined, error: SandduneError): boolean => {
  if (setup?.taken === undefined) return false;
  const { path, record } = setup.taken;
  if (error instanceof SandboxError) return error.problem.includes(record.snapshotName);
  return error instanceof HostFileError && (error.path ?? "").startsWith(path);
};

/** Takes back what was restored: the hooks run as if nothing had been found. No command has run in the sandbox. */
export const withoutSetup = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  setup: OpenSetup | undefined,
  problem: string,
): Effect.fn.Return<void, SandduneError> {
  if (setup?.taken === undefined) return;
  const { taken } = setup;
  const home = sandboxDirectories(session.journal.filesDirectory).home;
  if (checkout.overlay !== undefined && isMounted(checkout))
    checkout.overlay = withoutLayer(checkout.overlay);
  else yield* removeLayer(untrackedRoot(checkout), taken.record.paths);
  yield* interruptible(async () => {
    await removeDirectory(home);
    await mkdir(home);
  });
  dropTaken(session, setup, problem);
  setup.reason ??= yield* reasonNotToKeep(session, checkout);
});
