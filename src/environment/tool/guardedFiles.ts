import { accessSync, constants, type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Directories of what runners and package managers make, which are written to for good reasons. */
const MADE_LATER = /^(?:\..*|node_modules|__pycache__)$/;

/** When a file was last changed, in any way: nobody can set that back. */
const stampOf = (path: string): string => {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "gone" : `${found.ino} ${found.size} ${found.ctimeNs}`;
};

const canBeWritten = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) return [path];
    return MADE_LATER.test(entry.name) ? [] : filesIn(path);
  });

/**
 * Looks after the tests where they are files that the tested work can write to, as in a sandbox that has files of its own. The result says
 * which of them was changed since, if one was.
 */
export const guardFiles = (directory: string, others: readonly string[]): (() => string | undefined) => {
  const stamps = [...filesIn(directory), ...others]
    .filter(canBeWritten)
    .map((path) => ({ path, stamp: stampOf(path) }));
  return () => stamps.find(({ path, stamp }) => stampOf(path) !== stamp)?.path;
};
