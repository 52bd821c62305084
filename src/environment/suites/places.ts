import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { isInside } from "../../tools/isInside.ts";

/** The directories that a suite has to do with: absolute, and without links on the way. */
export interface SuitePlaces {
  /** Where the suite runs. */
  readonly cwd: string;
  readonly worktree: string;
  readonly environment: string;
  readonly scratch: string;
}

/** Resolves with a sentence if the suite cannot run where it is to run. */
export const findPlaces = async (
  cwd: string,
  options: { readonly worktree: string; readonly directory: string; readonly scratch: string },
): Promise<SuitePlaces | string> => {
  const [worktree, environment, scratch] = (await Promise.all(
    [options.worktree, options.directory, options.scratch].map((path) => realpath(path)),
  )) as [string, string, string];
  const place = await realpath(resolve(worktree, cwd)).catch(() => undefined);
  if (place === undefined)
    return `There is no directory ${JSON.stringify(cwd)} in the worktree, where the suite is to run.`;
  if (!isInside(worktree, place))
    return `${JSON.stringify(cwd)} leads out of the worktree: the suite does not run there.`;
  return { cwd: place, worktree, environment, scratch };
};

/** Replaces the placeholders in an argument. */
export const fillPlaces = (text: string, places: SuitePlaces): string =>
  text.replace(
    /\{(environment|worktree|scratch)\}/g,
    (_, name: "environment" | "worktree" | "scratch") => places[name],
  );

/** The name of a file as it is told: the same wherever the directories are. */
export const shownFile =
  ({ cwd, worktree, environment }: SuitePlaces) =>
  (file: string): string => {
    if (!isAbsolute(file) && !file.startsWith("../")) return file;
    const path = resolve(cwd, file);
    const root = [cwd, worktree, environment].find((each) => path !== each && isInside(each, path));
    return root === undefined ? file : relative(root, path);
  };
