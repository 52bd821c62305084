import { basename, join } from "node:path";
import { killMarked } from "../../process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";

const BUBBLEWRAP = "sanddune-bubblewrap-";

/** What a bubblewrap sandbox writes outside of the worktree. */
export const bubblewrapDirectory = (temporaryDirectory: string, sandboxName: string): string =>
  join(temporaryDirectory, `${BUBBLEWRAP}${sandboxName}`);

/**
 * Ends what still runs in a bubblewrap sandbox, and removes its directory. Its processes die with the process that started
 * them, unless that was killed before they could ask the kernel for it.
 */
export const removeBubblewrap = async (directory: string): Promise<void> => {
  await killMarked({ name: SANDBOX_VARIABLE, value: basename(directory).slice(BUBBLEWRAP.length) });
  await removeDirectory(directory);
};

/** Everything that a test-isolated sandbox consists of. */
export const testIsolatedDirectory = (temporaryDirectory: string, sandboxName: string): string =>
  join(temporaryDirectory, `sanddune-test-isolated-${sandboxName}`);

/** Ends what still runs in a test-isolated sandbox, and removes its directory. */
export const removeTestIsolated = async (directory: string): Promise<void> => {
  await killMarked({ name: SANDBOX_VARIABLE, value: basename(directory) });
  await removeDirectory(directory);
};
