#!/usr/bin/env node
import { createRequire } from "node:module";
import { nodeVersionProblem } from "./project/nodeVersion.ts";

/** As for any bad command line. This file imports nothing that an older Node.js lacks. */
const EXIT_BAD_USAGE = 2;

const problem = nodeVersionProblem(process.versions.node, process.execPath);
if (problem !== undefined) {
  process.stderr.write(`error: ${problem}\n`);
  process.exit(EXIT_BAD_USAGE);
}

// The argument parser is CommonJS. Bundled into an ES module, it needs a global `require` for modules of Node.js before it
// is loaded.
globalThis.require ??= createRequire(import.meta.url);

const { main } = await import("./commandLine.ts");
await main(process.argv.slice(2));
