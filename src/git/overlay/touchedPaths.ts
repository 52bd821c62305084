import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import { isPlainDirectory } from "../../tools/files/entries.ts";
import { listAtMost } from "../../tools/files/listAtMost.ts";
import { orUndefined } from "../../tools/orUndefined.ts";

/** The places of an overlay that an agent has touched, as paths below its top. */
export interface TouchedPaths {
  /** Files, links and deletions; a directory that no lower layer has stands for everything in it. */
  readonly paths: readonly string[];
  /** Directories of the upper and a lower layer, with the top. One that was replaced hides what the lower layers have in it. */
  readonly mergedDirectories: readonly string[];
}

/** Git compares every file of the index with each path. */
export const MAX_PATHS = 200;

/** Whether a path can be an argument. Names can be any bytes, and text that they are not has this character. */
export const isNameable = (path: string): boolean => !path.includes("\uFFFD");

/** All layers below the upper one. */
export const lowerLayers = ({ lowerPath, layerPaths = [] }: OverlayLayers): readonly string[] => [
  ...layerPaths,
  lowerPath,
];

/** `undefined` if there are too many, or if they cannot be listed. */
const entriesIn = (path: string): readonly Dirent[] | undefined =>
  orUndefined(() => listAtMost(path, MAX_PATHS + 1, "utf8"));

/**
 * Finds the places where an overlay may differ from its lowest layer, by the names in the other ones. `undefined` if they are many, or
 * cannot be named.
 */
export const touchedPaths = (layers: OverlayLayers): TouchedPaths | undefined => {
  const { upperPath, layerPaths = [] } = layers;
  const paths = layerPaths.flatMap((layer) => readdirSync(layer));
  const mergedDirectories = [""];
  const isInLower = (path: string) =>
    lowerLayers(layers).some((layer) => isPlainDirectory(join(layer, path)));
  for (const directory of mergedDirectories) {
    const entries = entriesIn(join(upperPath, directory));
    if (entries === undefined) return undefined;
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (path === ".git") continue;
      if (!isNameable(path)) return undefined;
      const isMerged = entry.isDirectory() && isInLower(path);
      (isMerged ? mergedDirectories : paths).push(path);
      if (paths.length + mergedDirectories.length > MAX_PATHS) return undefined;
    }
  }
  return { paths, mergedDirectories };
};
