import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { isInside } from "../../tools/isInside.ts";

/** The directories of a suite, as absolute paths without links. */
export interface SuitePlaces {
  /** Where the suite runs. */
  readonly cwd: string;
  readonly worktree: string;
  readonly environment: string;
  readonly scratch: string;
}

/** Resolves with a sentence if the suite's directory cannot be used. */
export const findPlaces = async (
  cwd: string,
  options: { readonly worktree: string; readonly directory: string; readonly scratch: string },
): Promise<SuitePlaces | string> => {
  const [worktree, environment, scratch] = (await Promise.all(
    [options.worktree, options.directory, options.scratch].map((path) => realpath(path)),
  )) as [string, string, string];
  const place = await realpath(resolve(worktree, cwd)).catch(() => undefined);
  if (place === undefined)
    return `The directory of the suite, ${JSON.stringify(cwd)}, does not exist in the worktree.`;
  if (!isInside(worktree, place))
    return `The directory of the suite, ${JSON.stringify(cwd)}, is outside the worktree.`;
  return { cwd: place, worktree, environment, scratch };
};

/** Replaces the placeholders in an argument. */
export const fillPlaces = (text: string, places: SuitePlaces): string =>
  text.replace(
    /\{(environment|worktree|scratch)\}/g,
    (_, name: "environment" | "worktree" | "scratch") => places[name],
  );

/** The reported name of a file, which does not depend on where the directories are. */
export const shownFile =
  ({ cwd, worktree, environment }: SuitePlaces) =>
  (file: string): string => {
    if (!isAbsolute(file) && !file.startsWith("../")) return file;
    const path = resolve(cwd, file);
    const root = [cwd, worktree, environment].find((each) => path !== each && isInside(each, path));
    return root === undefined ? file : relative(root, path);
  };
