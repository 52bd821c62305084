#!/usr/bin/env node
import { createRequire } from "node:module";
import { nodeVersionProblem } from "./project/nodeVersion.ts";

/** As for a command line that cannot be carried out. Nothing that an older Node.js lacks is imported here. */
const EXIT_BAD_USAGE = 2;

const problem = nodeVersionProblem(process.versions.node, process.execPath);
if (problem !== undefined) {
  process.stderr.write(`error: ${problem}\n`);
  process.exit(EXIT_BAD_USAGE);
}

// The argument parser is CommonJS. Bundled into an ES module, its `require` of node's own modules looks for a global
// one, which has to be there before the parser is loaded.
globalThis.require ??= createRequire(import.meta.url);

const { main } = await import("./commandLine.ts");
await main(process.argv.slice(2));
