import { lstatSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { InvalidOptionsError, SandboxLostError } from "../../errors.ts";
import { isInside } from "../../tools/isInside.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { SandboxMount } from "../contract.ts";
import { contains } from "../mounts/contains.ts";

/**
 * bwrap looks up the sources of mounts again for every command. Refuses a source in a directory that the sandbox can write to: a
 * command could replace it by a link to any host file, and the next command would see that file.
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
        `${path} lies in ${hostPath}, which the sandbox can write to: an agent could replace it by a link to any other file. Use it there, or choose a branch strategy other than head. To mount it nevertheless, set \`allowUnsafeMounts: true\`.`,
      );
    }
  }
};

const identityOf = (path: string): string => {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
};

/** The host path that a mount covers, if it is in a directory that the sandbox can write to. */
const coveredBy = ({ sandboxPath }: SandboxMount, mounts: readonly SandboxMount[]): string[] => {
  const [around] = mounts
    .filter((other) => other.sandboxPath !== sandboxPath && isInside(other.sandboxPath, sandboxPath))
    .sort((one, other) => other.sandboxPath.length - one.sandboxPath.length);
  if (around === undefined || around.readOnly) return [];
  const writtenTo = around.overlay?.upperPath ?? around.hostPath;
  return [join(writtenTo, relative(around.sandboxPath, sandboxPath))];
};

/**
 * Returns a check for each command that the sources of mounts, and the files that they cover, are still the original ones. In a
 * directory that the sandbox can write to, a command could move an original to where the next command can write to it.
 */
export const pinned = (
  provider: string,
  paths: readonly string[],
  mounts: readonly SandboxMount[],
): (() => void) => {
  const writable = mounts.filter(({ readOnly }) => !readOnly).map(({ hostPath }) => hostPath);
  const isReplaceable = (path: string) =>
    writable.some((directory) => directory !== path && isInside(directory, path));
  const sources = [...paths, ...mounts.map(({ hostPath }) => hostPath)];
  const covered = mounts.flatMap((mount) => coveredBy(mount, mounts));
  const looks = [
    ...sources.map((path) => ({ path, look: () => realpathSync.native(path) })),
    ...[...sources.filter(isReplaceable), ...covered].map((path) => ({ path, look: () => identityOf(path) })),
  ];
  const before = looks.map(({ path, look }) => ({ path, look, expected: orUndefined(look) }));
  return () => {
    for (const { path, look, expected } of before) {
      // bwrap makes what was missing where it mounts.
      if (expected === undefined || orUndefined(look) === expected) continue;
      throw new SandboxLostError(provider, `a command has moved or replaced ${path}`, "", true);
    }
  };
};
