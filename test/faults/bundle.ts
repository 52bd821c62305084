import { join } from "node:path";
import { buildSync } from "esbuild";
import { temporaryDirectory } from "../helpers/repository.ts";

/** Makes a program beside this file into one that plain Node runs, as a process of its own that a test can kill. */
export const bundle = (program: string): string => {
  const outfile = join(temporaryDirectory(), program.replace(/\.ts$/, ".mjs"));
  buildSync({
    entryPoints: [join(import.meta.dirname, program)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  return outfile;
};
