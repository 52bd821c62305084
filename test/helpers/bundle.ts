import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const BUNDLER = join(import.meta.dirname, "bundler.mjs");

const build = (program: string, directory: string): string => {
  const outfile = join(directory, basename(program).replace(/\.ts$/, ".mjs"));
  execFileSync(process.execPath, [BUNDLER, program, outfile], { stdio: "inherit" });
  return outfile;
};

/** Not where a test, or a file, has its own temporary files. */
const TEMPORARY = tmpdir();
const built = new Map<string, string>();

/**
 * Makes a TypeScript program into one that plain Node runs, as a process of its own. Unless a directory is named, this is done
 * once for all files of a worker, and the program stays until the end of the test run.
 */
export const bundle = (program: string, directory?: string): string => {
  if (directory !== undefined) return build(program, directory);
  const path = built.get(program) ?? build(program, mkdtempSync(join(TEMPORARY, "sanddune-template-")));
  built.set(program, path);
  return path;
};
