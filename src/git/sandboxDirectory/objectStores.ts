import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

const alternatesFile = (store: string): string => join(store, "info", "alternates");

export const hasAlternates = (store: string): boolean => existsSync(alternatesFile(store));

const alternatesOf = (store: string): string[] =>
  hasAlternates(store)
    ? readFileSync(alternatesFile(store), "utf8")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => (isAbsolute(line) ? line : join(store, line)))
    : [];

/** The repository's object store and its alternates, in the order in which git searches them. */
export const objectStores = (commonDirectory: string): string[] => {
  const stores = [join(commonDirectory, "objects")];
  for (const store of stores) {
    for (const alternate of alternatesOf(store)) {
      if (existsSync(alternate) && !stores.includes(alternate)) stores.push(alternate);
    }
  }
  return stores;
};
