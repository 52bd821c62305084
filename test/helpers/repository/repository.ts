import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterTest } from "../processes/sideBySide.ts";
import { RUN_ID } from "./runId.ts";

/** Runs git as the user would, in `cwd`. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();

/** A directory that is gone after the test. */
export const temporaryDirectory = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `sanddune-${RUN_ID}-`)));
  // What a killed process has started may write for a moment longer.
  afterTest(() => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  return path;
};

const initialise = (path: string, initOptions: readonly string[]): void => {
  git(path, "init", "--quiet", "--initial-branch=main", ...initOptions);
  git(path, "config", "user.name", "Dev");
  git(path, "config", "user.email", "dev@example.com");
  writeFileSync(join(path, "README.md"), "# Fixture\n");
  git(path, "add", ".");
  git(path, "commit", "--quiet", "-m", "Initial commit");
};

/** Not where a test, or a file, has its own temporary files. */
const TEMPORARY = tmpdir();
let template: string | undefined;

/** Six git processes once, then a copy of a dozen small files for each test. */
const templateRepository = (): string => {
  if (template === undefined) {
    template = mkdtempSync(join(TEMPORARY, "sanddune-template-"));
    initialise(template, []);
    // Samples, which nothing reads, are most of a new repository.
    for (const name of readdirSync(join(template, ".git/hooks"))) rmSync(join(template, ".git/hooks", name));
  }
  return template;
};

/** Makes a directory a repository on branch `main` with one commit, README.md in it. */
export const makeRepository = (path: string, ...initOptions: string[]): void => {
  if (initOptions.length > 0) initialise(path, initOptions);
  else cpSync(templateRepository(), path, { recursive: true });
};

/** A repository as `makeRepository` makes it, which is gone after the test. */
export const temporaryRepository = (...initOptions: string[]): string => {
  const path = temporaryDirectory();
  makeRepository(path, ...initOptions);
  return path;
};
