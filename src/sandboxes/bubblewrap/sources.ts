import { realpathSync } from "node:fs";
import { InvalidOptionsError, SandboxLostError } from "../../errors.ts";
import type { SandboxMount } from "../contract.ts";
import { contains } from "../mounts/sameFile.ts";

/**
 * bwrap looks up what it mounts anew for every command. Refuses what the user wants to mount from a directory that the sandbox
 * can write to: a command could put a link to any file of the host in its place, and the next command would see that file.
 */
export const refuseReplaceable = async (
  option: string,
  paths: readonly string[],
  mounts: readonly SandboxMount[],
): Promise<void> => {
  for (const path of paths) {
    for (const { hostPath, readOnly } of mounts) {
      if (readOnly || hostPath === path || !(await contains(hostPath, path))) continue;
      throw new InvalidOptionsError(
        option,
        `${path} lies in ${hostPath}, which the sandbox has already and can write to: an agent could put a link to any other file in its place. Use it there, or choose a branch strategy other than head. To mount it nevertheless, set \`allowUnsafeMounts: true\`.`,
      );
    }
  }
};

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    // bwrap says so itself.
    return undefined;
  }
};

/** A check, for each command, that paths still lead to where they led when the sandbox was made. */
export const pinned = (provider: string, paths: readonly string[]): (() => void) => {
  const before = paths.map((path) => [path, realPath(path)] as const);
  return () => {
    for (const [path, target] of before) {
      const now = realPath(path);
      if (now === undefined || now === target) continue;
      throw new SandboxLostError(provider, `${path} was replaced by a link, which leads to ${now}`, "", true);
    }
  };
};
