import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import type { OverlayMount } from "../../process/overlay/overlayMount.ts";
import { runProcess } from "../../process/runProcess.ts";
import { isPlainDirectory } from "../../tools/files/entries.ts";
import { nulSeparated } from "../output.ts";
import { lowerLayers } from "./touchedPaths.ts";

/**
 * The entries of lower layers that directories of the upper one hide. The kernel marks such a directory by an attribute that
 * Node.js cannot read, so the directories are listed where the overlay is mounted. `undefined` if one cannot be listed.
 */
export const hiddenPaths = (
  layers: OverlayLayers,
  directories: readonly string[],
  mount: OverlayMount,
  mountPath: string,
): Effect.Effect<readonly string[] | undefined, SandduneError> =>
  interruptible(async (signal) => {
    const [program = "", ...args] = mount.inside([
      "find",
      ...directories.map((directory) => join(mountPath, directory)),
      ...["-mindepth", "1", "-maxdepth", "1", "-print0"],
    ]);
    const { stdout, stdoutTruncated, exitCode } = await runProcess({
      program,
      args,
      cwd: "/",
      env: { PATH: hostPath(), LC_ALL: "C" },
      signal,
    });
    if (exitCode !== 0 || stdoutTruncated) return undefined;
    const visible = new Set(nulSeparated(stdout).map((path) => relative(mountPath, path)));
    return directories.flatMap((directory) => {
      const inUpper = new Set(readdirSync(join(layers.upperPath, directory)));
      return lowerLayers(layers)
        .map((layer) => join(layer, directory))
        .filter(isPlainDirectory)
        .flatMap((path) => readdirSync(path))
        .filter((name) => !inUpper.has(name))
        .map((name) => join(directory, name))
        .filter((path) => !visible.has(path));
    });
  });
