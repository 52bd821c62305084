import { existsSync, lstatSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { lockSharedCheckouts } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";
import { isIntact } from "./openSharedCheckout.ts";
import type { OverlayCheckout } from "./overlayCheckout.ts";
import { distrust, readSharedCheckout, type SharedCheckout } from "./sharedCheckout.ts";

/** Many runs begin at the same time on one shared checkout: one of them verifies it. */
const INTERVAL_MS = 30_000;

const noteIn = ({ path }: SharedCheckout): string => join(path, "verified");

/** Whether a shared checkout was verified just now, or is about to be. Otherwise notes that it is verified now. */
const isVerified = (shared: SharedCheckout): boolean => {
  const note = noteIn(shared);
  const verifiedAt = lstatSync(note, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.abs(Date.now() - verifiedAt) < INTERVAL_MS) return true;
  writeFileSync(note, "");
  return false;
};

/**
 * Compares the shared checkout under an overlay with its index, which takes too long to wait for before each run. If a program of the
 * user has changed files in it, no later run uses it. Succeeds with its path then.
 */
export const verifyShared = Effect.fnUntraced(function* (
  repository: Repository,
  { layers }: OverlayCheckout,
): Effect.fn.Return<string | undefined> {
  const shared = readSharedCheckout(dirname(layers.lowerPath));
  if (shared === undefined || isVerified(shared)) return undefined;
  // If git cannot tell, the index is torn, unless the shared checkout was removed meanwhile.
  const isGone = Effect.sync(() => !existsSync(shared.path));
  const isFine = isIntact(repository, shared).pipe(
    Effect.catch(() => isGone),
    // The next run verifies it.
    Effect.onInterrupt(() => Effect.sync(() => rmSync(noteIn(shared), { force: true }))),
  );
  if (yield* isFine) return undefined;
  // Another run may be about to use it.
  const lock = Effect.ignore(lockSharedCheckouts(repository));
  yield* Effect.scoped(
    Effect.andThen(
      lock,
      Effect.sync(() => distrust(shared)),
    ),
  );
  return shared.path;
});
