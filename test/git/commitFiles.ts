import { git } from "../helpers/repository/repository.ts";
import { writeFiles } from "../helpers/repository/writeFiles.ts";

/** Writes files into a checkout, commits everything in it, and gives the commit. */
export const commitFiles = (
  cwd: string,
  files: Readonly<Record<string, string>>,
  subject = Object.keys(files).join(", ") || "Change",
): string => {
  writeFiles(cwd, files);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", subject);
  return git(cwd, "rev-parse", "HEAD");
};

/** What git says of a checkout, with every untracked file. */
export const statusOf = (cwd: string): string =>
  git(cwd, "-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all");
