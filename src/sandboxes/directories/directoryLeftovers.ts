import { existsSync } from "node:fs";
import type { LeftSandbox, SandboxLeftovers } from "../leftovers.ts";

/** Leftovers of sandboxes that are directories on this machine. */
export const directoryLeftovers = (
  holdsWork: boolean,
  pathOf: (temporaryDirectory: string, sandboxName: string) => string,
  remove: (directory: string) => Promise<void>,
): SandboxLeftovers => {
  const directoryOf = ({ temporaryDirectory, sandboxName }: LeftSandbox) =>
    pathOf(temporaryDirectory, sandboxName);
  return {
    holdsWork,
    find: async (sandbox) => {
      const directory = directoryOf(sandbox);
      return existsSync(directory) ? `directory ${directory}` : undefined;
    },
    remove: (sandbox) => remove(directoryOf(sandbox)),
  };
};
