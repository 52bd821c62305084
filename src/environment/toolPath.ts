import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The program for environments. */
const TOOL = "tool.js";

/** What runs where the tests do, each a module that needs no other: the program, and what definitions import. */
export const TOOL_FILES: readonly string[] = [TOOL, "index.js"];

/** Where the built ones are: below the package's `dist/`, however deep in there this module has ended up. */
export const toolDirectory = (from: string = import.meta.dirname): string => {
  const found = join(from, "dist/environment");
  if (existsSync(join(found, TOOL))) return found;
  if (dirname(from) === from) throw new Error("The package is not complete: it has no dist/environment/.");
  return toolDirectory(dirname(from));
};

export const toolPath = (): string => join(toolDirectory(), TOOL);
