import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { gitDirectoryParts } from "../gitDirectoryParts.ts";
import { tryLock } from "../locks/lockFile.ts";
import { locksDirectory } from "../locks/locks.ts";
import type { Repository } from "../repository.ts";

const NAME = /^trial-[0-9a-f]{12}$/;
const LOCK = ".lock";

/** Held by the process that uses the directory, and taken before that exists. */
const lock = (repository: Repository, name: string) =>
  tryLock(join(locksDirectory(repository), `${name}${LOCK}`), "trying to mount an overlay");

/** Removes the directory that a lock belongs to, if it is one of these. The lock's owner is dead. */
export const removeTrialOf = async (repository: Repository, lockPath: string): Promise<void> => {
  const name = basename(lockPath, LOCK);
  if (NAME.test(name)) await removeDirectory(join(gitDirectoryParts(repository), name));
};

/** Removes the directories whose processes are dead. */
const removeDead = async (repository: Repository): Promise<void> => {
  const place = gitDirectoryParts(repository);
  for (const name of (existsSync(place) ? readdirSync(place) : []).filter((found) => NAME.test(found))) {
    const attempt = lock(repository, name);
    if (attempt.acquired) await removeDirectory(join(place, name)).finally(attempt.release);
  }
};

/**
 * Makes an empty directory beside the overlays of runs, and removes it afterwards: what one of two directories there can do, the other
 * can do as well. Nothing else looks at it.
 */
export const withTrialDirectory = async <Result>(
  repository: Repository,
  use: (directory: string) => Promise<Result>,
): Promise<Result> => {
  const name = `trial-${randomBytes(6).toString("hex")}`;
  const attempt = lock(repository, name);
  const directory = join(gitDirectoryParts(repository), name);
  try {
    // What cannot be removed now is removed later.
    await removeDead(repository).catch(() => {});
    mkdirSync(directory, { mode: 0o700 });
    return await use(directory);
  } finally {
    await removeDirectory(directory).catch(() => {});
    if (attempt.acquired) attempt.release();
  }
};
