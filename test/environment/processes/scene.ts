import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { SuiteDefinition } from "../../../src/environment/suites/definition.ts";
import {
  type RunSuiteOptions,
  runSuite,
  type SuiteResults,
} from "../../../src/environment/suites/runSuite.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";

const VITEST = join(import.meta.dirname, "../../../node_modules/vitest");

type Files = Readonly<Record<string, string>>;

/** A worktree, an environment's folder and a scratch directory, to run suites in. */
export const suiteScene = (files: Files, environmentFiles: Files = {}) => {
  const root = temporaryDirectory();
  const places = {
    worktree: join(root, "worktree"),
    directory: join(root, "environment"),
    scratch: join(root, "scratch"),
  };
  for (const path of Object.values(places)) mkdirSync(path);
  writeFiles(places.worktree, files);
  writeFiles(places.directory, environmentFiles);
  return {
    ...places,
    /** As after `npm install`. */
    installVitest: (place: "worktree" | "directory"): void => {
      const modules = join(places[place], "node_modules");
      mkdirSync(join(modules, ".bin"), { recursive: true });
      symlinkSync(VITEST, join(modules, "vitest"));
      symlinkSync("../vitest/vitest.mjs", join(modules, ".bin/vitest"));
    },
    run: (definition: SuiteDefinition, options: Partial<RunSuiteOptions> = {}): Promise<SuiteResults> =>
      runSuite(definition, { ...places, timeoutMs: 30_000, env: process.env, ...options }),
    has: (name: string): boolean => existsSync(join(places.worktree, name)),
    /** What is in the scratch directory. */
    scraps: (): string[] => readdirSync(places.scratch),
  };
};
