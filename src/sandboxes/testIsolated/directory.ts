import { basename, join } from "node:path";
import { killMarked } from "../../process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { directoryLeftovers } from "../directories/directoryLeftovers.ts";

export const testIsolatedDirectory = (temporaryDirectory: string, sandboxName: string): string =>
  join(temporaryDirectory, `sanddune-test-isolated-${sandboxName}`);

/** Kills the processes that still run in a test-isolated sandbox, and removes its directory. */
export const removeTestIsolated = async (directory: string): Promise<void> => {
  await killMarked({ name: SANDBOX_VARIABLE, value: basename(directory) });
  await removeDirectory(directory);
};

export const testIsolatedLeftovers = directoryLeftovers(true, testIsolatedDirectory, removeTestIsolated);
