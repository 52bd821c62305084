import { join } from "node:path";
import { linkPackage } from "./linkPackage.ts";
import { temporaryDirectory } from "./repository/repository.ts";
import { writeFiles } from "./repository/writeFiles.ts";

/** A folder with these files, beside which the package is installed; gone after the test. */
export const environmentFolder = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
  linkPackage(directory);
  const folder = join(directory, "environment");
  writeFiles(folder, files);
  return folder;
};

/** Tests of a greeting: one that the file is there, one of what it says. */
export const GREETING_TESTS = `import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineEnvironment } from "@missingstudio/sanddune/environment";

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
