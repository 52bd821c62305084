import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigDirectoryError } from "../errors.ts";

/** The config directory, at the top of the main checkout. */
export const CONFIG_DIRECTORY_NAME = ".sanddune";

/** The env file, from the top of the main checkout. */
export const ENV_FILE = `${CONFIG_DIRECTORY_NAME}/.env`;

/** The config file of the repository's scenarios, in the config directory. */
export const SCENARIOS_FILE = "scenarios.json";

/** The parts of `.sanddune/` that runs write to. Each hides itself from git; the user's ignore files are not touched. */
const PARTS = ["worktrees", "runs", "logs"] as const;
type ConfigDirectoryPart = (typeof PARTS)[number];

/** What in the config directory is not for git: what runs write, and the env file. */
export const PRIVATE_PARTS = [...PARTS, ".env"] as const;

export const configDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string =>
  join(configDirectory, part);

/** What agents commit must not lead sanddune elsewhere: whatever else is in the place of a directory is refused. */
const checkDirectory = (path: string): void => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status !== undefined && !status.isDirectory()) throw new ConfigDirectoryError(path);
};

/** Checks the config directory, before anything is created in it. Throws a `ConfigDirectoryError`. */
export const checkConfigDirectory = (configDirectory: string): void => {
  checkDirectory(configDirectory);
  for (const part of PARTS) checkDirectory(configDirectoryPart(configDirectory, part));
};

/** Not `recursive`: with that, Node reports a read-only file system as a missing directory. */
const makeDirectory = (path: string, mode = 0o777): void => {
  if (!existsSync(path)) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another run may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
};

/** Other accounts of the machine must not get at what agents write: not to read it, nor to run it. */
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;

/** For one that was made before, or by other means. */
const closeToOthers = (path: string): void => {
  if ((lstatSync(path).mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    // It is another account's, which shares its checkout.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
};

export const ensureConfigDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string => {
  const path = configDirectoryPart(configDirectory, part);
  makeDirectory(configDirectory);
  makeDirectory(path, OWNER_ONLY);
  closeToOthers(path);
  const ignoreFile = join(path, ".gitignore");
  if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, "*\n");
  return path;
};
