import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:[-+][\w.+-]*)?$/;

const directoriesOf = (name: string, from: string): readonly string[] => {
  try {
    return createRequire(from).resolve.paths(name) ?? [];
  } catch {
    // Whoever made one file of many may have left nothing of where they were.
    return [];
  }
};

const versionIn = (packageJson: string, name: string): string | undefined => {
  try {
    const found = JSON.parse(packageJson) as { readonly name?: unknown; readonly version?: unknown };
    // What is installed under the name of another package has versions that mean something else.
    if (found.name !== name || typeof found.version !== "string") return undefined;
    return VERSION.test(found.version) ? found.version : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The version of a package that the module at `from` imports; `undefined` if it cannot be found out. Its directory is looked
 * for, because many packages let nobody import their `package.json`.
 */
export const findVersion = async (name: string, from: string): Promise<string | undefined> => {
  for (const directory of directoriesOf(name, from)) {
    const text = await readFile(join(directory, name, "package.json"), "utf8").catch(() => undefined);
    if (text !== undefined) return versionIn(text, name);
  }
  return undefined;
};

const numbersOf = (version: string): number[] => (VERSION.exec(version) ?? []).slice(1).map(Number);

/** Whether a version is in a range like `^1.2.3`: not older, and alike up to the first number that is not 0. */
export const isInRange = (version: string, range: string): boolean => {
  const found = numbersOf(version);
  const wanted = numbersOf(range.replace(/^\^/, ""));
  const leading = wanted.findIndex((number) => number > 0);
  const differs = wanted.findIndex((number, index) => number !== found[index]);
  return differs === -1 || (differs > leading && Number(found[differs]) > Number(wanted[differs]));
};
