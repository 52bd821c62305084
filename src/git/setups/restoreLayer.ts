import { dirname, join } from "node:path";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { HostFileError, type SandduneError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { hostPath } from "../../process/hostPrograms.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { runProcess } from "../../process/runProcess.ts";
import { entryExists, isPlainDirectory } from "../../tools/files/entries.ts";
import { displayPath } from "./notKept.ts";

const parts = (path: string): string[] => path.replace(/\/$/, "").split("/");

/** Why kept files cannot be put into a directory; `undefined` if they can. A link in the place of a directory would lead elsewhere. */
export const obstacle = (root: string, paths: readonly string[]): string | undefined => {
  for (const path of paths.map(displayPath)) {
    const steps = parts(path);
    const parents = steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1).join("/"));
    const missing = parents.find((parent) => !isPlainDirectory(join(root, parent)));
    if (missing !== undefined) return `the worktree has no directory ${missing}`;
    if (entryExists(join(root, ...steps))) return `the worktree has ${path} already`;
  }
  return undefined;
};

/** Copies kept files into a directory. The original is never changed by what happens to the copy. */
export const copyLayer = (layer: string, root: string): Effect.Effect<void, SandduneError> =>
  interruptible(async (signal) => {
    const { exitCode, stderr } = await runProcess({
      program: "cp",
      args: [...hostSystem().copyOptions, "--", `${layer}/.`, `${root}/`],
      cwd: dirname(layer),
      env: { PATH: hostPath(), LC_ALL: "C" },
      signal,
    });
    if (exitCode === 0) return;
    const code = /No space left/.test(stderr) ? "ENOSPC" : "EIO";
    throw new HostFileError(code, root, { cause: new Error(stderr.trim()) });
  });

/** Removes the copies of kept files. */
export const removeLayer = (root: string, paths: readonly string[]): Effect.Effect<void, SandduneError> =>
  interruptible(async () => {
    for (const path of paths.map(displayPath)) await removeDirectory(join(root, ...parts(path)));
  });
