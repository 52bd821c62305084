import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

let directory = "";

/** The program for environments, for the tests of this file: built anew, since children of the server are that program. */
export const useTool = (): void => {
  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-tool-")));
    await build({
      absWorkingDir: ROOT,
      entryPoints: { index: "src/environment/index.ts", tool: "src/environment/tool.ts" },
      outdir: directory,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20.19",
      define: { SANDDUNE_VERSION: '"0.0.0"' },
      logLevel: "warning",
    });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
};

export const toolFile = (): string => join(directory, "tool.js");
