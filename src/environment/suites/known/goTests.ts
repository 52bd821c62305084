import { dirname, join, relative } from "node:path";
import type { KnownGoTests } from "../reports/goTest.ts";
import { readSource, testFilesOf } from "./testFiles.ts";

const TEST = /^func (Test(?!Main\b)(?![a-z])\w*)\(\s*\w+ \*testing\.T\s*\)/gm;

/** The nearest `go.mod` above a directory: its directory, and the path of its module. */
const moduleOf = (directory: string): { readonly root: string; readonly path: string } | undefined => {
  const path = /^module\s+"?([^\s"]+)/m.exec(readSource(join(directory, "go.mod")) ?? "")?.[1];
  if (path !== undefined) return { root: directory, path };
  return dirname(directory) === directory ? undefined : moduleOf(dirname(directory));
};

/** The tests of all packages below a directory, as they are in the source. Nothing is built or run. */
export const knownGoTests = (directory: string): KnownGoTests => {
  const known = new Map<string, string[]>();
  for (const file of testFilesOf([directory], directory, (name) => name.endsWith("_test.go"))) {
    const module = moduleOf(dirname(file));
    const source = readSource(file);
    if (module === undefined || source === undefined) continue;
    const name = join(module.path, relative(module.root, dirname(file)));
    const tests = [...source.matchAll(TEST)].map(([, test]) => test as string);
    known.set(name, [...(known.get(name) ?? []), ...tests]);
  }
  return known;
};
