import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The program for environments. */
const TOOL = "tool.js";

/** What an agent starts to get the tests as tools. Apart from the program: its protocol is large, and tests start quickly without it. */
export const MCP_PROGRAM = "mcpProgram.js";

/** What runs where the tests do, each a module that needs no other: the two programs, and what definitions import. */
export const TOOL_FILES: readonly string[] = [TOOL, MCP_PROGRAM, "index.js"];

/** Where the built ones are: below the package's `dist/`, however deep in there this module has ended up. */
export const toolDirectory = (from: string = import.meta.dirname): string => {
  const found = join(from, "dist/environment");
  if (existsSync(join(found, TOOL))) return found;
  if (dirname(from) === from) throw new Error("The package is not complete: it has no dist/environment/.");
  return toolDirectory(dirname(from));
};

export const toolPath = (): string => join(toolDirectory(), TOOL);
