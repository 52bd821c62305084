import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isInside } from "../../../tools/isInside.ts";
import { orUndefined } from "../../../tools/orUndefined.ts";
import { MAX_TESTS } from "../../limits.ts";

const MAX_FILES = 2000;
/** A larger file is not read. */
const MAX_BYTES = 1024 * 1024;
const NEVER = /^(?:node_modules|__pycache__|\..*)$/;

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return NEVER.test(entry.name) ? [] : filesBelow(path);
    return [path];
  });

/**
 * The test files that the arguments of a runner name: files, and the test files in directories. Only files of the environment
 * count; `isTest` gets paths relative to it.
 */
export const testFilesOf = (
  args: readonly string[],
  environment: string,
  isTest: (path: string) => boolean,
): string[] => {
  const named = args
    .filter((each) => each.startsWith("/") && existsSync(each))
    .map((each) => realpathSync(each));
  const files = named
    .filter((each) => isInside(environment, each))
    .flatMap((each) => {
      if (!statSync(each).isDirectory()) return [each];
      const files = filesBelow(each).filter((file) => isTest(relative(environment, file)));
      return files.sort();
    });
  return [...new Set(files)].slice(0, MAX_FILES);
};

/** The text of a file; `undefined` if it is too large, cannot be read, or is not a regular file. */
export const readSource = (file: string): string | undefined =>
  orUndefined(() => {
    const found = statSync(file);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(file, "utf8") : undefined;
  });

/** The tests of a file by their names, outermost first. */
export type KnownTests = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Reads the tests of files without running them. A file that cannot be read has no known tests. */
export const knownTests = (files: readonly string[], scan: (source: string) => string[][]): KnownTests => {
  let left = MAX_TESTS;
  return new Map(
    files.map((file) => {
      const source = readSource(file);
      if (source === undefined) return [file, []];
      const tests = scan(source).slice(0, left);
      left -= tests.length;
      return [file, tests];
    }),
  );
};
