import { lstatSync, realpathSync } from "node:fs";
import { InvalidOptionsError, SandboxLostError } from "../../errors.ts";
import { isInside } from "../../process/isInside.ts";
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

/** `undefined` if there is nothing: bwrap says so itself. */
const attempt = (look: () => string): string | undefined => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

const identityOf = (path: string): string => {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
};

/**
 * A check, for each command, that what is mounted is still what it was when the sandbox was made. In a directory that the
 * sandbox can write to, a command could also move the original away, to where the next one can write to it.
 */
export const pinned = (
  provider: string,
  readOnlyPaths: readonly string[],
  mounts: readonly SandboxMount[],
): (() => void) => {
  const writable = mounts.filter(({ readOnly }) => !readOnly).map(({ hostPath }) => hostPath);
  const isReplaceable = (path: string) =>
    writable.some((directory) => directory !== path && isInside(directory, path));
  const paths = [...readOnlyPaths, ...mounts.map(({ hostPath }) => hostPath)];
  const looks = paths.flatMap((path) => [
    { path, look: () => realpathSync.native(path) },
    ...(isReplaceable(path) ? [{ path, look: () => identityOf(path) }] : []),
  ]);
  const before = looks.map(({ path, look }) => ({ path, look, expected: attempt(look) }));
  return () => {
    for (const { path, look, expected } of before) {
      const now = attempt(look);
      if (now === undefined || now === expected) continue;
      throw new SandboxLostError(
        provider,
        `a command has put something else in the place of ${path}`,
        "",
        true,
      );
    }
  };
};
