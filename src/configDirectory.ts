import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of `.sanddune/` that runs write to. Each hides itself from git; the user's ignore files are not touched. */
type ConfigDirectoryPart = "worktrees" | "runs" | "logs";

export const configDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string =>
  join(configDirectory, part);

export const ensureConfigDirectoryPart = (configDirectory: string, part: ConfigDirectoryPart): string => {
  const path = configDirectoryPart(configDirectory, part);
  mkdirSync(path, { recursive: true });
  const ignoreFile = join(path, ".gitignore");
  if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, "*\n");
  return path;
};
