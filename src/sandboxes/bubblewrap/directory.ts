import { basename, join } from "node:path";
import { killMarked } from "../../process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { directoryLeftovers } from "../directories/directoryLeftovers.ts";

const PREFIX = "sanddune-bubblewrap-";

/** Holds what a bubblewrap sandbox writes outside of the worktree. */
export const bubblewrapDirectory = (temporaryDirectory: string, sandboxName: string): string =>
  join(temporaryDirectory, `${PREFIX}${sandboxName}`);

/** Processes die with the process that started them, unless it was killed before they could ask the kernel for that. */
const removeBubblewrap = async (directory: string): Promise<void> => {
  await killMarked({ name: SANDBOX_VARIABLE, value: basename(directory).slice(PREFIX.length) });
  await removeDirectory(directory);
};

export const bubblewrapLeftovers = directoryLeftovers(false, bubblewrapDirectory, removeBubblewrap);
