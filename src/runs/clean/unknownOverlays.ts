import * as Effect from "effect/Effect";
import { discardOverlay, holdsFiles, overlayPaths } from "../../git/overlay/overlayCheckout.ts";
import { unknownOverlays } from "../orphans.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** Finds overlays whose run is unknown: its journal is gone, and so is the record of the overlay. The work in one is never removed. */
export const findUnknownOverlays = ({ repository, namedRuns, namedBranches }: CleanScope): Leftover[] =>
  namedRuns.size + namedBranches.size > 0
    ? []
    : unknownOverlays(repository).map(({ runId, directory }) => {
        const { upperPath } = overlayPaths(directory);
        return {
          what: "overlay",
          name: directory,
          runIds: [runId],
          detail: holdsFiles(upperPath) ? "files of an unknown branch" : "unfinished",
          ...(holdsFiles(upperPath) && {
            keptBecause: `it may be the only copy of the files in ${upperPath}. Copy what you need, then remove it`,
          }),
          remove: Effect.asVoid(discardOverlay(directory)),
        };
      });
