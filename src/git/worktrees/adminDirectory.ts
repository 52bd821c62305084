import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Repository } from "../repository.ts";

/** The files without which git cannot use, or even list, a worktree. */
const REQUIRED = ["HEAD", "commondir", "gitdir"] as const;

const readIfExists = (path: string): string => {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, "utf8").trimEnd() : "";
  } catch {
    return "";
  }
};

const directoriesIn = (path: string): string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
};

export const adminDirectoriesParent = ({ commonDirectory }: Pick<Repository, "commonDirectory">): string =>
  join(commonDirectory, "worktrees");

/** Git calls it after the worktree's directory, with a number if that name is taken. */
const isNamedAfter = (name: string, worktreePath: string): boolean => {
  const expected = basename(worktreePath);
  return name.startsWith(expected) && /^\d*$/.test(name.slice(expected.length));
};

/**
 * What git keeps about the worktree at a path: usually one directory, several after crashes. One that was not finished,
 * or is half removed, may not name the worktree any more: then its own name tells.
 */
export const adminDirectoriesOf = (
  repository: Pick<Repository, "commonDirectory">,
  worktreePath: string,
): string[] => {
  const parent = adminDirectoriesParent(repository);
  return directoriesIn(parent)
    .filter((name) => {
      const gitdir = readIfExists(join(parent, name, "gitdir"));
      return gitdir === ""
        ? isNamedAfter(name, worktreePath)
        : resolve(parent, name, gitdir) === join(worktreePath, ".git");
    })
    .map((name) => join(parent, name));
};

/** Whether git can use it. A single one that is empty, as a power cut leaves it, makes most git commands fail. */
export const isUsable = (administration: string): boolean =>
  REQUIRED.every((name) => readIfExists(join(administration, name)) !== "");

/**
 * Whether git and the worktree know each other. One that belongs elsewhere, because the repository was moved for instance, is
 * not judged here: `git worktree repair` may help.
 */
export const isAttached = (
  repository: Pick<Repository, "commonDirectory">,
  worktreePath: string,
): boolean => {
  const gitFile = readIfExists(join(worktreePath, ".git"));
  if (gitFile === "") return false;
  const administration = resolve(worktreePath, gitFile.replace(/^gitdir: /, ""));
  return dirname(administration) !== adminDirectoriesParent(repository) || isUsable(administration);
};
