import { lstat, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";

/** A directory of a repository that must not be mounted as a whole. */
export interface RepositoryData {
  readonly path: string;
  readonly what: string;
  /** No part of it may be mounted either. */
  readonly isPrivate: boolean;
}

const firstLineOf = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").then(
    (text) => text.split("\n")[0]?.trim(),
    () => undefined,
  );

/** The checkout that a directory is in, as git would look for it. */
const checkoutOf = async (directory: string): Promise<string | undefined> => {
  const found = await lstat(join(directory, ".git")).catch(() => undefined);
  if (found !== undefined) return directory;
  const above = dirname(directory);
  return above === directory ? undefined : checkoutOf(above);
};

/** In a linked worktree and in a submodule, `.git` is a file that names the git directory. */
const gitDirectoryOf = async (checkout: string): Promise<string> => {
  const path = join(checkout, ".git");
  const named = (await firstLineOf(path))?.replace(/^gitdir:\s*/, "");
  return named === undefined ? path : resolve(checkout, named);
};

/** The directories with a repository's secrets, and with settings that decide what runs on the host. */
export const repositoryData = async (directory: string): Promise<RepositoryData[]> => {
  const checkout = await checkoutOf(directory);
  if (checkout === undefined) return [];
  const gitDirectory = await gitDirectoryOf(checkout);
  const shared = await firstLineOf(join(gitDirectory, "commondir"));
  const commonDirectory = shared === undefined ? gitDirectory : resolve(gitDirectory, shared);
  const main = basename(commonDirectory) === ".git" ? dirname(commonDirectory) : checkout;
  const ofGit = { what: "git's configuration and hooks", isPrivate: true };
  return [
    { path: join(checkout, ".git"), ...ofGit },
    { path: gitDirectory, ...ofGit },
    { path: commonDirectory, ...ofGit },
    {
      path: join(main, CONFIG_DIRECTORY_NAME),
      what: "sanddune's journals, worktrees and env file",
      isPrivate: true,
    },
    { path: checkout, what: "the whole checkout", isPrivate: false },
  ];
};
