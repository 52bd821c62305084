import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of `.sanddune/` that runs write to. Each hides itself from git; the user's ignore files are not touched. */
type ConfigDirectoryPart = "worktrees" | "runs" | "logs";

export const configDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string =>
  join(configDirectory, part);

/** Not `recursive`: with that, Node reports a read-only file system as a missing directory. */
const makeDirectory = (path: string): void => {
  if (!existsSync(path)) {
    try {
      mkdirSync(path);
    } catch (error) {
      // Another run may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
};

export const ensureConfigDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string => {
  const path = configDirectoryPart(configDirectory, part);
  makeDirectory(configDirectory);
  makeDirectory(path);
  const ignoreFile = join(path, ".gitignore");
  if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, "*\n");
  return path;
};
