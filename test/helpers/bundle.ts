import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildSync, stop } from "esbuild";

const build = (program: string, directory: string): string => {
  const outfile = join(directory, basename(program).replace(/\.ts$/, ".mjs"));
  buildSync({
    entryPoints: [program],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    // The oldest Node that is supported, as for the package.
    target: "node20.19",
    // Loaded when they are needed, which is not there.
    external: ["@vercel/sandbox", "e2b", "modal"],
    logLevel: "error",
  });
  // It would keep a process until the end of the test file.
  stop();
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
