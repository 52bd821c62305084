import { join } from "node:path";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { copyTree } from "../../process/copyTree.ts";
import { sandboxDirectories } from "./sandboxGitDirectory.ts";

// HOME of a bind-mount sandbox is a directory of its run, so it is not in a provider's snapshot of the sandbox.

const homeIn = (directory: string): string => join(directory, "home");

/** Copies HOME of a run's sandbox into a directory, where `fillSandboxHome` finds it. */
export const keepSandboxHome = (
  filesDirectory: string,
  directory: string,
): Effect.Effect<void, SandduneError> =>
  interruptible((signal) => copyTree(sandboxDirectories(filesDirectory).home, homeIn(directory), signal));

/** Fills HOME of a new run, before its git directory is prepared. */
export const fillSandboxHome = (
  directory: string,
  filesDirectory: string,
): Effect.Effect<void, SandduneError> =>
  interruptible((signal) => copyTree(homeIn(directory), sandboxDirectories(filesDirectory).home, signal));
