import { foldPath } from "../foldPath.ts";

/**
 * Git takes a directory for a bare repository if it has these entries; `commondir` names another directory that has the
 * last two. Only names count here: filters can change the content of a tracked `HEAD` when it is checked out, a
 * symbolic link or a submodule can be in the place of each directory, and case is what the file system makes of it.
 */
export const looksBare = (foldedNames: ReadonlySet<string>): boolean =>
  foldedNames.has("head") &&
  (foldedNames.has("commondir") || (foldedNames.has("objects") && foldedNames.has("refs")));

/** The entries of a bare repository that name programs, hold them, or say where the configuration is. */
const ARMING: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "hooks"]);

export const isArming = (foldedName: string): boolean => ARMING.has(foldedName);

/** Whether a change of this path can make a bare repository, or arm one. */
export const concernsBareRepository = (path: string): boolean =>
  /(^|\/)(head|objects|refs|commondir|config|config\.worktree|hooks)(\/|$)/.test(foldPath(path));
