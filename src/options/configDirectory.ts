import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigDirectoryError } from "../errors.ts";
import { hasCode } from "../tools/files/hasCode.ts";

/** The config directory, at the top of the main checkout. */
export const CONFIG_DIRECTORY_NAME = ".sanddune";

/** The env file, from the top of the main checkout. */
export const ENV_FILE = `${CONFIG_DIRECTORY_NAME}/.env`;

/** The config file of the repository's scenarios, in the config directory. */
export const SCENARIOS_FILE = "scenarios.json";

/** The directories in `.sanddune/` that runs write to. Each has its own `.gitignore`; the user's stays unchanged. */
const PARTS = ["worktrees", "runs", "logs"] as const;
type ConfigDirectoryPart = (typeof PARTS)[number];

/** The entries of the config directory that must not be committed. */
export const PRIVATE_PARTS = [...PARTS, ".env"] as const;

export const configDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string =>
  join(configDirectory, part);

/** Refuses a symbolic link in place of a directory: an agent could commit one that leads elsewhere. */
const checkDirectory = (path: string): void => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status !== undefined && !status.isDirectory()) throw new ConfigDirectoryError(path);
};

/** Throws a `ConfigDirectoryError` if something other than a directory is in the way. */
export const checkConfigDirectory = (configDirectory: string): void => {
  checkDirectory(configDirectory);
  for (const part of PARTS) checkDirectory(configDirectoryPart(configDirectory, part));
};

/** Not `recursive`: Node would report a read-only file system as a missing directory. */
const makeDirectory = (path: string, mode = 0o777): void => {
  if (!existsSync(path)) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another run may have created it meanwhile.
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
};

/** Other accounts of the machine must not read or execute the files that agents write. */
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;

/** For a directory that already existed. */
const closeToOthers = (path: string): void => {
  if ((lstatSync(path).mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    // Another account owns it, and shares its checkout.
    if (!hasCode(error, "EPERM")) throw error;
  }
};

/** Makes a directory that only this user can read, or closes it to others if it exists. */
export const ensurePrivateDirectory = (path: string): void => {
  makeDirectory(path, OWNER_ONLY);
  closeToOthers(path);
};

export const ensureConfigDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string => {
  const path = configDirectoryPart(configDirectory, part);
  makeDirectory(configDirectory);
  ensurePrivateDirectory(path);
  const ignoreFile = join(path, ".gitignore");
  if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, "*\n");
  return path;
};
