import { accessSync, constants, type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { succeeds } from "../../tools/orUndefined.ts";

/** Directories that runners and package managers write to. */
const MADE_LATER = /^(?:\..*|node_modules|__pycache__)$/;

/** Changes with every change of the file: the tested code cannot set the change time back. */
const stampOf = (path: string): string => {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "gone" : `${found.ino} ${found.size} ${found.ctimeNs}`;
};

const canBeWritten = (path: string): boolean => succeeds(() => accessSync(path, constants.W_OK));

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) return [path];
    return MADE_LATER.test(entry.name) ? [] : filesIn(path);
  });

/** Detects changes of the tests' files by the tested code: the result returns the first changed file. */
export const guardFiles = (directory: string, others: readonly string[]): (() => string | undefined) => {
  const stamps = [...filesIn(directory), ...others]
    .filter(canBeWritten)
    .map((path) => ({ path, stamp: stampOf(path) }));
  return () => stamps.find(({ path, stamp }) => stampOf(path) !== stamp)?.path;
};
