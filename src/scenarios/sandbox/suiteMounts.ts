import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { SandboxMount } from "../../sandboxes/contract.ts";
import { isInside } from "../../tools/isInside.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { isPrivateDirectory, isPrivateFile } from "../suite/privateNames.ts";

/** The parts of a suite that no command in a sandbox sees. Paths are absolute and real. */
export interface PrivatePaths {
  readonly directories: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

/** Packages contain nothing private, but most of the directories. */
const PACKAGES = "node_modules";

/** A directory that this user cannot read is not readable in a sandbox either. */
const entriesOf = (directory: string): Dirent[] =>
  orUndefined(() => readdirSync(directory, { withFileTypes: true })) ?? [];

/** The real path; `undefined` if it does not exist, or is outside of `root` and so not visible in a sandbox. */
const realInside = (root: string, path: string) =>
  orUndefined(() => {
    const real = realpathSync(path);
    return isInside(root, real) ? { path: real, status: lstatSync(real) } : undefined;
  });

/** The private files and directories below `root`, which has to be a real path. Nested checkouts count, too. */
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

/** Mounts the suite read-only at its own path, with empty files and directories over the private ones. */
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
