import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { Repository } from "../repository.ts";

/** Without these files, git can neither use nor list a worktree. */
const REQUIRED = ["HEAD", "commondir", "gitdir"] as const;

const readIfExists = (path: string): string =>
  orUndefined(() => (lstatSync(path).isFile() ? readFileSync(path, "utf8").trimEnd() : "")) ?? "";

const directoriesIn = (path: string): string[] =>
  orUndefined(() =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  ) ?? [];

export const adminDirectoriesParent = ({ commonDirectory }: Pick<Repository, "commonDirectory">): string =>
  join(commonDirectory, "worktrees");

/** Git names it after the worktree's directory, with a number if that name is taken. */
const isNamedAfter = (name: string, worktreePath: string): boolean => {
  const expected = basename(worktreePath);
  return name.startsWith(expected) && /^\d*$/.test(name.slice(expected.length));
};

/**
 * The administrative directories of the worktree at a path: usually one, several after crashes. One that is incomplete
 * may not name its worktree: then it is found by its own name.
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

/** Whether git can use it. A single empty file, as a power cut leaves it, makes most git commands fail. */
export const isUsable = (administration: string): boolean =>
  REQUIRED.every((name) => readIfExists(join(administration, name)) !== "");

/**
 * Whether the worktree has a usable administrative directory. A worktree whose `.git` names a directory elsewhere,
 * because the repository was moved for instance, counts as attached: `git worktree repair` may help.
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
