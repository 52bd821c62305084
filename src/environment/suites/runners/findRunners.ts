import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { findProgram } from "../../../process/hostPrograms.ts";
import { isInside } from "../../../tools/isInside.ts";
import { orUndefined } from "../../../tools/orUndefined.ts";
import type { SuitePlaces } from "../places.ts";

const realPath = (path: string): string | undefined => orUndefined(() => realpathSync(path));

/**
 * The root of the work: the outermost repository that contains the worktree. A home directory that is a repository does not count,
 * because it contains the user's programs.
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

/** Whether a path, or its real path, is inside the work: the agent may have put a program there to forge results. */
export const isOfWork = (path: string, { worktree }: Pick<SuitePlaces, "worktree">): boolean => {
  const work = workOf(worktree);
  const real = realPath(path);
  return isInside(work, path) || (real !== undefined && isInside(work, real));
};

/** A PATH without entries inside the work, and without relative entries. */
export const pathOutsideOfWork = (
  path: string | undefined,
  places: Pick<SuitePlaces, "worktree">,
): string | undefined =>
  path
    ?.split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isOfWork(entry, places))
    .join(delimiter);

/** A program of the image, never one of the work. It need not exist. */
export const imageProgram = (
  name: string,
  path: string | undefined,
  places: Pick<SuitePlaces, "worktree">,
): string => {
  const program = findProgram(name, pathOutsideOfWork(path, places));
  return isOfWork(program, places) ? findProgram(name, "") : program;
};

/** Node.js of the image, or else the one that runs this process. */
export const nodeProgram = (path: string | undefined, places: Pick<SuitePlaces, "worktree">): string => {
  const program = imageProgram("node", path, places);
  return existsSync(program) ? program : process.execPath;
};

/** The directory and its parents, without those inside the work. */
const outwards = (directory: string, places: SuitePlaces): string[] => {
  const around = dirname(directory);
  const own = directory === places.environment || !isOfWork(directory, places) ? [directory] : [];
  return around === directory ? own : [...own, ...outwards(around, places)];
};

const VITEST = "node_modules/vitest/vitest.mjs";

/** Finds vitest in the environment, the scratch directory or the image, in this order; never in the work. */
export const findVitest = (path: string | undefined, places: SuitePlaces): string | undefined => {
  const directories = [...outwards(places.environment, places), places.scratch];
  const installed = directories.map((directory) => join(directory, VITEST)).find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  const program = realPath(imageProgram("vitest", path, places));
  return program?.endsWith(".mjs") === true ? program : undefined;
};

/** The vitest of the work, for a suite that requests it. */
export const findVitestOfWork = (directory: string): string | undefined => {
  const file = join(directory, VITEST);
  if (existsSync(file)) return file;
  return dirname(directory) === directory ? undefined : findVitestOfWork(dirname(directory));
};
