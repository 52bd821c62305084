import { foldPath } from "../foldPath.ts";

/**
 * Git treats a directory with these entries as a bare repository; `commondir` names another directory that has the last
 * two. Only names count: a filter can change the content of a tracked `HEAD` at checkout, a symbolic link or a
 * submodule can replace each directory, and some file systems ignore case.
 */
export const looksBare = (foldedNames: ReadonlySet<string>): boolean =>
  foldedNames.has("head") &&
  (foldedNames.has("commondir") || (foldedNames.has("objects") && foldedNames.has("refs")));

/** The entries of a bare repository that are programs, name programs, or tell where the configuration is. */
const ARMING: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "hooks"]);

export const isArming = (foldedName: string): boolean => ARMING.has(foldedName);

/** Whether a change of this path can create a bare repository, or arm one. */
export const concernsBareRepository = (path: string): boolean =>
  /(^|\/)(head|objects|refs|commondir|config|config\.worktree|hooks)(\/|$)/.test(foldPath(path));
