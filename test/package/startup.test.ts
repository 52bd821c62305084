import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { builtCli } from "../helpers/built.ts";

/** The files that are loaded before the command line is looked at: what is imported, by whatever is imported. */
const loadedAtOnce = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm);
  for (const [, path = ""] of imports) loadedAtOnce(join(dirname(file), path), seen);
  return seen;
};

it("the command line starts without Effect, and without what asks questions", () => {
  const cli = builtCli();
  const [, commandLine = ""] = /import\("(\.[^"]*commandLine[^"]*)"\)/.exec(readFileSync(cli, "utf8")) ?? [];
  const files = [...loadedAtOnce(join(dirname(cli), commandLine))];
  // The bundler tells in a comment where each part comes from.
  const parts = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/^\/\/ .*node_modules\/(@?[\w-]+)/gm),
  ]);
  expect(new Set(parts.map(([, name]) => name))).toEqual(new Set(["commander"]));
});
