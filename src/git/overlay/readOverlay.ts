import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HostFileError, type SandduneError } from "../../errors.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { lockSharedCheckouts } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";
import { checkOut, isSound } from "./openSharedCheckout.ts";
import { holdsFiles, type OverlayCheckout, overlayPaths } from "./overlayCheckout.ts";
import { layerOf } from "./overlayLayer.ts";
import { type OverlayRecord, readOverlayRecord, writeOverlayRecord } from "./overlayRecord.ts";
import {
  commitOf,
  readSharedCheckout,
  type SharedCheckout,
  sharedCheckoutName,
  sharedCheckoutsDirectory,
} from "./sharedCheckout.ts";

/**
 * The files that the overlay of a dead run lies over. If its shared checkout was removed or is torn, this overlay gets files of its own:
 * git may write files differently now, so they are not for other runs.
 */
const findLower = Effect.fnUntraced(function* (
  repository: Repository,
  shared: string,
  directory: string,
): Effect.fn.Return<SharedCheckout, SandduneError> {
  const found = readSharedCheckout(shared);
  if (found !== undefined && (yield* isSound(repository, found))) return found;
  const own = join(directory, "lower");
  yield* interruptible(() => removeDirectory(own));
  yield* checkOut(repository, commitOf(shared), own);
  return readSharedCheckout(own) ?? (yield* Effect.die("a new shared checkout cannot be read"));
});

/** Whether an overlay holds nothing but its `.git` file: no command has written to it. */
const isUnchanged = ({ upperPath }: Pick<OverlayLayers, "upperPath">): boolean =>
  !existsSync(upperPath) || !holdsFiles(upperPath);

/** No shared checkout has this name, so the overlay gets files of its own. */
const replaceRecord = Effect.fnUntraced(function* (
  directory: string,
  commit: string | undefined,
): Effect.fn.Return<OverlayRecord, SandduneError> {
  const cause = new Error("the record of the overlay is torn");
  if (commit === undefined) return yield* Effect.fail(new HostFileError("EIO", directory, { cause }));
  const record = { shared: sharedCheckoutName(commit, "unknown"), commit };
  writeOverlayRecord(directory, record);
  return record;
});

/**
 * Reads the overlay that a dead run has left; `undefined` if no command has written to it. A power cut can empty the record of one that
 * is in use: then it lies over files of its own, of the commit that the run started with.
 */
export const readOverlay = Effect.fnUntraced(function* (
  repository: Repository,
  { directory, copyPath }: Pick<OverlayCheckout, "directory" | "copyPath">,
  startCommit: string | undefined,
): Effect.fn.Return<OverlayCheckout | undefined, SandduneError> {
  if (isUnchanged(overlayPaths(directory))) return undefined;
  const record = readOverlayRecord(directory) ?? (yield* replaceRecord(directory, startCommit));
  if (record.isUnfinished) return undefined;
  const { shared: name, commit, setup } = record;
  const path = join(sharedCheckoutsDirectory(repository), name);
  const shared = yield* Effect.scoped(
    Effect.andThen(lockSharedCheckouts(repository), findLower(repository, path, directory)),
  );
  const { upperPath, workPath } = overlayPaths(directory);
  const layers = { lowerPath: shared.filesPath, ...layerOf(repository, setup), upperPath, workPath };
  return { directory, copyPath, commit, shared, layers };
});
