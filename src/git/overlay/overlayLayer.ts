import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import type { Repository } from "../repository.ts";
import { canLieBelow } from "../setups/fits.ts";
import { type SetupRecord, setupPaths, setupsDirectory } from "../setups/keptSetup.ts";
import type { OverlayCheckout } from "./overlayCheckout.ts";
import { readOverlayRecord, writeOverlayRecord } from "./overlayRecord.ts";

/** The kept set-up whose files come into an overlay. */
export interface OverlaySetup {
  readonly name: string;
  readonly record: Pick<SetupRecord, "commit" | "paths">;
  /** They are a layer of it. Otherwise they are copied into it later. */
  readonly isLayer: boolean;
}

/** Whether a shared checkout of a commit can lie below an overlay with the files of a kept set-up. */
export const mayLieBelow = (
  repository: Pick<Repository, "topLevel">,
  kept: OverlaySetup | undefined,
  commit: string,
): Effect.Effect<boolean, SandduneError> =>
  kept === undefined ? Effect.succeed(true) : canLieBelow(repository, kept.record, commit);

/** The files of a kept set-up, as a layer of an overlay. */
export const layerOf = (
  repository: Pick<Repository, "commonDirectory">,
  setup: string | undefined,
): Pick<OverlayLayers, "layerPaths"> => {
  const { layer } = setupPaths(join(setupsDirectory(repository), setup ?? ""));
  // The user may have removed it. The work of a dead run is in the upper directory.
  return setup !== undefined && existsSync(layer) ? { layerPaths: [layer] } : {};
};

/** The same overlay without the files of a kept set-up. No sandbox has mounted it yet. */
export const withoutLayer = (overlay: OverlayCheckout): OverlayCheckout => {
  const { layerPaths: _, ...layers } = overlay.layers;
  const record = readOverlayRecord(overlay.directory);
  if (record !== undefined)
    writeOverlayRecord(overlay.directory, { shared: record.shared, commit: record.commit });
  return { ...overlay, layers };
};
