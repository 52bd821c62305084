import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { configDirectoryPart } from "../../options/configDirectory.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesOf, adminDirectoriesParent } from "./adminDirectory.ts";

/** What is called so holds nothing of worth: its worktree was to be removed with everything in it. */
const REMOVING = ".removing-";

const removalsOfFiles = ({ configDirectory }: Repository): string =>
  configDirectoryPart(configDirectory, "worktrees");
const removalsOfGit = ({ commonDirectory }: Repository): string => join(commonDirectory, "sanddune");

const setAside = (path: string, parent: string): string[] => {
  if (!existsSync(path)) return [];
  mkdirSync(parent, { recursive: true });
  const aside = join(parent, `${REMOVING}${randomBytes(6).toString("hex")}`);
  renameSync(path, aside);
  return [aside];
};

/** Lets git forget a worktree. The directory that git keeps about it is gone at once, never half. */
export const removeAdminDirectories = async (
  repository: Repository,
  administrations: readonly string[],
): Promise<void> => {
  const aside = administrations.flatMap((path) => setAside(path, removalsOfGit(repository)));
  try {
    rmdirSync(adminDirectoriesParent(repository));
  } catch {
    // Git has other worktrees.
  }
  for (const path of aside) await removeDirectory(path);
};

/**
 * Removes a worktree with everything in it. Its directory is renamed first: whatever happens to this process or to the
 * machine, half of a worktree is never left in the worktree's place, where it would look like work. `git worktree remove`
 * deletes in place, and forgets the worktree even if it could not delete everything.
 *
 * Resolves with what could not be deleted.
 */
export const removeWorktreeFiles = async (
  repository: Repository,
  path: string,
): Promise<string | undefined> => {
  const administrations = adminDirectoriesOf(repository, path);
  const [aside] = setAside(path, removalsOfFiles(repository));
  await removeAdminDirectories(repository, administrations);
  if (aside === undefined) return undefined;
  return removeDirectory(aside).then(
    () => undefined,
    () => aside,
  );
};

/** What removals that did not come to their end have left. The caller holds the lock of worktrees, as removals do. */
export const unfinishedRemovals = (repository: Repository): string[] =>
  [removalsOfFiles(repository), removalsOfGit(repository)].flatMap((parent) =>
    (existsSync(parent) ? readdirSync(parent) : [])
      .filter((name) => name.startsWith(REMOVING))
      .map((name) => join(parent, name)),
  );
