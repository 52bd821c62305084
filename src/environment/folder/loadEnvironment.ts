import { lstatSync } from "node:fs";
import { chmod, constants, copyFile, lstat, mkdir, readlink, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listFiles } from "./listFiles.ts";
import { type FoundEnvironment, readEnvironment } from "./readEnvironment.ts";
import { SETUP_FILE } from "./setupFile.ts";

export interface LoadedEnvironment extends FoundEnvironment {
  /** The files and links that are copied, as paths relative to the folder. */
  readonly files: readonly string[];
}

/** Rejects with an `EnvironmentError`. A module is not run: its errors show when its tests are opened. */
export const loadEnvironment = async (directory: string): Promise<LoadedEnvironment> => {
  const found = readEnvironment(directory);
  const always = [found.definitionFile, SETUP_FILE];
  return { ...found, files: await listFiles(found.directory, found.selected, always) };
};

export type EnvironmentPart = Pick<LoadedEnvironment, "directory" | "files">;

/**
 * Reads an environment from a commit: `checkout` is a checkout of the folder at that commit. `named` are paths of `files` in the
 * folder itself that git ignores, such as installed packages.
 */
export const loadCommitted = async (
  checkout: string,
  folder: string,
  named: readonly string[],
): Promise<readonly EnvironmentPart[]> => {
  const { definitionFile, selected } = readEnvironment(checkout);
  const isCommitted = (path: string) =>
    lstatSync(join(checkout, path), { throwIfNoEntry: false }) !== undefined;
  const committed = selected?.filter((item) => isCommitted(item) || !named.includes(item));
  const always = [definitionFile, SETUP_FILE];
  const ignoredFiles = await listFiles(folder, named, []);
  return [
    { directory: checkout, files: await listFiles(checkout, committed, always) },
    { directory: folder, files: ignoredFiles.filter((path) => !isCommitted(path)) },
  ];
};

/** Copies the files of an environment to another directory, which is created. Links stay links. */
export const copyEnvironment = async (
  { directory, files }: EnvironmentPart,
  destination: string,
): Promise<void> => {
  for (const file of files) {
    const [from, to] = [join(directory, file), join(destination, file)];
    await mkdir(dirname(to), { recursive: true });
    const status = await lstat(from);
    if (status.isSymbolicLink()) await symlink(await readlink(from), to);
    else {
      await copyFile(from, to, constants.COPYFILE_EXCL);
      await chmod(to, status.mode & 0o777);
    }
  }
};
