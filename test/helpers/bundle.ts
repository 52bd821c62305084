import { basename, join } from "node:path";
import { buildSync } from "esbuild";
import { temporaryDirectory } from "./repository.ts";

/** Makes a TypeScript program into one that plain Node runs, as a process of its own; gone after the test, unless a directory is named. */
export const bundle = (program: string, directory = temporaryDirectory()): string => {
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
  return outfile;
};
