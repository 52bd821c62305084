import { readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { copyTree } from "../../process/copyTree.ts";
import { sandboxDirectories } from "./sandboxGitDirectory.ts";

/** Verdicts and reports of sanddune's own commands in the original: a new sandbox writes its own. */
const OWN_FILES = /^sanddune-/;

/** Copies HOME and the git directory of a bind-mount sandbox for a fork. Its mounts are not in the snapshot of its provider. */
export const copySandboxDirectories = (
  filesDirectory: string,
  toFilesDirectory: string,
): Effect.Effect<void, SandduneError> => {
  const [from, to] = [sandboxDirectories(filesDirectory), sandboxDirectories(toFilesDirectory)];
  return interruptible(async (signal) => {
    await copyTree(from.home, to.home, signal);
    // Recovery would take half a copy for a git directory with commits that were not imported.
    const staged = `${to.git}-copy`;
    await copyTree(from.git, staged, signal);
    for (const name of readdirSync(staged)) {
      if (OWN_FILES.test(name)) await rm(join(staged, name), { recursive: true, force: true });
    }
    await rename(staged, to.git);
  });
};
