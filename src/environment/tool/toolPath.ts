import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The test tool. */
const TOOL = "tool.js";

/** The MCP server that an agent starts. A program of its own, because the MCP library is large and would slow the start of tests. */
export const MCP_PROGRAM = "mcpProgram.js";

/** The files that go where the tests run: the two programs, and the module that definitions import. Each needs no other. */
export const TOOL_FILES: readonly string[] = [TOOL, MCP_PROGRAM, "index.js"];

/** The directory of the built files: below the package's `dist/`, wherever the bundler has put this module. */
export const toolDirectory = (from: string = import.meta.dirname): string => {
  const found = join(from, "dist/environment");
  if (existsSync(join(found, TOOL))) return found;
  if (dirname(from) === from) throw new Error("The package is incomplete: dist/environment/ is missing.");
  return toolDirectory(dirname(from));
};

export const toolPath = (): string => join(toolDirectory(), TOOL);
