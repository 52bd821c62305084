import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { SandboxMount } from "../../sandboxes/contract.ts";
import { isInside } from "../../tools/isInside.ts";
import { isPrivateDirectory, isPrivateFile } from "../suite/privateNames.ts";

/** What of a suite no command in a sandbox gets to see. Paths are absolute, and without links. */
export interface PrivatePaths {
  readonly directories: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

/** Installed packages have nothing private, and most of all directories. */
const PACKAGES = "node_modules";

const entriesOf = (directory: string): Dirent[] => {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // What cannot be read here cannot be read by the same user in a sandbox.
    return [];
  }
};

interface Real {
  readonly path: string;
  readonly status: Stats;
}

/** Where a path leads; `undefined` if that is nowhere, or where no sandbox sees it anyway. */
const realInside = (root: string, path: string): Real | undefined => {
  try {
    const real = realpathSync(path);
    return isInside(root, real) ? { path: real, status: lstatSync(real) } : undefined;
  } catch {
    return undefined;
  }
};

/** What is private below a directory of a suite, whose root has to be a real path: a checkout can hold others. */
export const privatePaths = (root: string): PrivatePaths => {
  const directories = new Set<string>();
  const files = new Set<string>();
  const collect = (directory: string): void => {
    for (const entry of entriesOf(directory)) {
      const path = join(directory, entry.name);
      const isPrivate = { directory: isPrivateDirectory(entry.name), file: isPrivateFile(entry.name) };
      const real = isPrivate.directory || isPrivate.file ? realInside(root, path) : undefined;
      if (isPrivate.directory && real?.status.isDirectory()) directories.add(real.path);
      else if (isPrivate.file && real?.status.isFile()) files.add(real.path);
      else if (entry.isDirectory() && entry.name !== PACKAGES) collect(path);
    }
  };
  collect(root);
  return { directories, files };
};

/** The suite, read-only at its own path, with something empty over whatever is private. */
export const suiteMounts = (
  root: string,
  empty: { readonly directory: string; readonly file: string },
): SandboxMount[] => {
  const { directories, files } = privatePaths(root);
  const covered = (hostPath: string, paths: ReadonlySet<string>): SandboxMount[] =>
    [...paths].map((sandboxPath) => ({ hostPath, sandboxPath, readOnly: true }));
  return [
    { hostPath: root, sandboxPath: root, readOnly: true },
    ...covered(empty.directory, directories),
    ...covered(empty.file, files),
  ];
};
