#!/usr/bin/env node
import { createRequire } from "node:module";

// The argument parser is CommonJS. Bundled into an ES module, its `require` of node's own modules looks for a global
// one, which has to be there before the parser is loaded.
globalThis.require ??= createRequire(import.meta.url);

const { main } = await import("./commandLine.ts");
await main(process.argv.slice(2));
