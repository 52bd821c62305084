import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Runs git as the user would, in `cwd`. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();

/** A directory that is gone after the test. */
export const temporaryDirectory = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** A repository on branch `main` with one commit, README.md in it. */
export const temporaryRepository = (...initOptions: string[]): string => {
  const path = temporaryDirectory();
  git(path, "init", "--quiet", "--initial-branch=main", ...initOptions);
  git(path, "config", "user.name", "Dev");
  git(path, "config", "user.email", "dev@example.com");
  writeFileSync(join(path, "README.md"), "# Fixture\n");
  git(path, "add", ".");
  git(path, "commit", "--quiet", "-m", "Initial commit");
  return path;
};
