import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Subjects of all commits on the host's branches, and in the git directories of sandboxes that were left. */
export const allSubjects = (cwd: string): string[] => {
  const runs = join(cwd, ".sanddune/runs");
  const left = readdirSync(runs)
    .map((run) => join(runs, run, "files/git"))
    .filter((path) => existsSync(join(path, "HEAD")));
  const directories = [join(cwd, ".git"), ...left];
  const objects = directories.map((path) => join(path, "objects")).join(":");
  return directories.flatMap((directory) =>
    execFileSync("git", ["--git-dir", directory, "log", "--all", "--format=%s"], {
      encoding: "utf8",
      stdio: "pipe",
      env: { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
    }).split("\n"),
  );
};
