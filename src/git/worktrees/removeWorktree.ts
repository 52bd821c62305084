import { existsSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { configDirectoryPart } from "../../options/configDirectory.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { readableEntries } from "../../tools/files/readableEntries.ts";
import { gitDirectoryPart } from "../gitDirectoryParts.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesOf, adminDirectoriesParent } from "./adminDirectory.ts";
import { gitRemovals, REMOVING, removalDraft } from "./removalDraft.ts";

const removalsOfFiles = ({ configDirectory }: Repository): string =>
  configDirectoryPart(configDirectory, "worktrees");

const setAside = (path: string, parent: string): string[] => {
  if (!existsSync(path)) return [];
  mkdirSync(parent, { recursive: true });
  const aside = removalDraft(parent);
  renameSync(path, aside);
  return [aside];
};

/** Removes administrative directories of a worktree: each disappears at once, never in part. */
export const removeAdminDirectories = async (
  repository: Repository,
  administrations: readonly string[],
): Promise<void> => {
  const aside = administrations.flatMap((path) => setAside(path, gitRemovals(repository)));
  try {
    rmdirSync(adminDirectoriesParent(repository));
  } catch {
    // Git has other worktrees.
  }
  for (const path of aside) await removeDirectory(path);
};

/**
 * Removes a worktree with everything in it. The directory is renamed first, so that a crash never leaves half a
 * worktree that looks like work. `git worktree remove` deletes in place, and unregisters the worktree even if it could
 * not delete everything.
 *
 * Resolves with the directory that could not be deleted, if any.
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

/** The directories that interrupted removals of worktrees and overlays have left. The caller must hold the worktree lock, as removals do. */
export const unfinishedRemovals = (repository: Repository): string[] =>
  [removalsOfFiles(repository), gitRemovals(repository), gitDirectoryPart(repository, "overlays")].flatMap(
    (parent) =>
      readableEntries(parent)
        .filter(({ name }) => name.startsWith(REMOVING))
        .map(({ name }) => join(parent, name)),
  );
