import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtCli } from "./built.ts";
import { temporaryDirectory } from "./repository/repository.ts";
import { writeFiles } from "./repository/writeFiles.ts";

/** Where the package is that a definition imports. */
const installPackage = (directory: string): void => {
  const root = dirname(dirname(builtCli()));
  mkdirSync(join(directory, "node_modules"));
  symlinkSync(root, join(directory, "node_modules/sanddune"));
};

/** A folder with these files, beside which the package is installed; gone after the test. */
export const environmentFolder = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
  installPackage(directory);
  const folder = join(directory, "environment");
  writeFiles(folder, files);
  return folder;
};

/** Tests of a greeting: one that the file is there, one of what it says. */
export const GREETING_TESTS = `import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineEnvironment } from "sanddune/environment";

const greeting = (worktree) => readFile(join(worktree, "hello.txt"), "utf8");

export default defineEnvironment({
  tests: {
    "greeting/exists": { description: "There is a greeting.", run: ({ worktree }) => greeting(worktree) },
    "greeting/text": async ({ worktree }) => {
      assert.equal(await greeting(worktree).catch(() => "nothing"), "hello\\n", "it does not greet");
    },
  },
});
`;

export const greetingEnvironment = (files: Readonly<Record<string, string>> = {}): string =>
  environmentFolder({ "environment.mjs": GREETING_TESTS, ...files });
