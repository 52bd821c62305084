import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { findProgram } from "../../../process/hostPrograms.ts";
import { isInside } from "../../../tools/isInside.ts";
import { orUndefined } from "../../../tools/orUndefined.ts";
import type { SuitePlaces } from "../places.ts";

const realPath = (path: string): string | undefined => orUndefined(() => realpathSync(path));

/**
 * Where the work ends: at the outermost repository that the worktree is a directory of. A home directory that is one does not
 * count, because programs of the user are in there.
 */
const workOf = (worktree: string): string => {
  const home = realPath(homedir());
  let work = worktree;
  let directory = worktree;
  while (directory !== dirname(directory) && directory !== home) {
    if (existsSync(join(directory, ".git"))) work = directory;
    directory = dirname(directory);
  }
  return work;
};

/** Whether a path, or where it leads, is the work's: whatever is there may have been put there to forge results. */
export const isOfWork = (path: string, { worktree }: Pick<SuitePlaces, "worktree">): boolean => {
  const work = workOf(worktree);
  const real = realPath(path);
  return isInside(work, path) || (real !== undefined && isInside(work, real));
};

/** A PATH without entries that are the work's, or that depend on where a program is started. */
export const pathOutsideOfWork = (
  path: string | undefined,
  places: Pick<SuitePlaces, "worktree">,
): string | undefined =>
  path
    ?.split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isOfWork(entry, places))
    .join(delimiter);

/** A program of the image. Programs of the work are not looked for; the result need not exist. */
export const imageProgram = (
  name: string,
  path: string | undefined,
  places: Pick<SuitePlaces, "worktree">,
): string => {
  const program = findProgram(name, pathOutsideOfWork(path, places));
  return isOfWork(program, places) ? findProgram(name, "") : program;
};

/** Node.js of the image, or else the one that runs this. */
export const nodeProgram = (path: string | undefined, places: Pick<SuitePlaces, "worktree">): string => {
  const program = imageProgram("node", path, places);
  return existsSync(program) ? program : process.execPath;
};

/** The directory and those around it, without what is the work's. */
const outwards = (directory: string, places: SuitePlaces): string[] => {
  const around = dirname(directory);
  const own = directory === places.environment || !isOfWork(directory, places) ? [directory] : [];
  return around === directory ? own : [...own, ...outwards(around, places)];
};

const VITEST = "node_modules/vitest/vitest.mjs";

/**
 * The vitest that comes with the environment, that `setup.sh` has installed in the scratch directory, or that is installed in the
 * image: in this order, and nowhere in the work.
 */
export const findVitest = (path: string | undefined, places: SuitePlaces): string | undefined => {
  const directories = [...outwards(places.environment, places), places.scratch];
  const installed = directories.map((directory) => join(directory, VITEST)).find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  const program = realPath(imageProgram("vitest", path, places));
  return program?.endsWith(".mjs") === true ? program : undefined;
};

/** The vitest of the work itself: for a suite that says so. */
export const findVitestOfWork = (directory: string): string | undefined => {
  const file = join(directory, VITEST);
  if (existsSync(file)) return file;
  return dirname(directory) === directory ? undefined : findVitestOfWork(dirname(directory));
};
