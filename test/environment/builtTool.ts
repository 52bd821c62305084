import { copyFileSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { builtCli } from "../helpers/built.ts";

let directory = "";

/**
 * The program for environments, for the tests of this file: the built one, since children of the server are that program. A
 * copy, which stays as it is if the package is built anew meanwhile.
 */
export const useTool = (): void => {
  beforeAll(() => {
    const built = join(dirname(builtCli()), "environment");
    directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-tool-")));
    for (const name of ["tool.js", "index.js"]) copyFileSync(join(built, name), join(directory, name));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
};

export const toolFile = (): string => join(directory, "tool.js");
