import { isUtf8 } from "node:buffer";
import {
  chmodSync,
  constants,
  copyFileSync,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { findInside } from "./findInside.ts";

/** An entry of a directory tree, with its relative path. A directory comes before its entries. */
export type TreeEntry =
  | { readonly kind: "directory"; readonly path: string; readonly mode: number }
  | { readonly kind: "file"; readonly path: string; readonly bytes: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

const decode = (bytes: Buffer, describe: (text: string) => string): string => {
  const text = bytes.toString();
  if (isUtf8(bytes)) return text;
  throw new Error(`${describe(text)} is not valid UTF-8`);
};

const readLink = (root: string, path: string): TreeEntry => {
  const target = decode(
    readlinkSync(join(root, path), "buffer"),
    (text) => `the target of the symbolic link ${JSON.stringify(path)}, ${JSON.stringify(text)},`,
  );
  const refuse = (reason: string) =>
    new Error(`${JSON.stringify(path)} is a symbolic link to ${JSON.stringify(target)}: ${reason}`);
  // In a copy, the link would still lead to the original.
  if (isAbsolute(target)) throw refuse("absolute links cannot be copied");
  try {
    findInside(root, path);
  } catch (error) {
    throw refuse((error as Error).message);
  }
  return { kind: "link", path, target };
};

const readEntry = (root: string, path: string, found: Dirent<Buffer>): readonly TreeEntry[] => {
  if (found.isSymbolicLink()) return [readLink(root, path)];
  const { mode, size } = lstatSync(join(root, path));
  if (found.isFile()) return [{ kind: "file", path, bytes: size }];
  if (found.isDirectory()) return [{ kind: "directory", path, mode: mode & 0o7777 }, ...readTree(root, path)];
  throw new Error(`${JSON.stringify(path)} is neither a file, nor a directory, nor a symbolic link`);
};

/** All entries below `root`, a real path. Throws for entries that cannot be copied faithfully. */
export const readTree = (root: string, directory = ""): readonly TreeEntry[] =>
  readdirSync(join(root, directory), { encoding: "buffer", withFileTypes: true }).flatMap((found) => {
    const name = decode(found.name, (text) => `the name of ${JSON.stringify(join(directory, text))}`);
    return readEntry(root, join(directory, name), found);
  });

/** Copies share blocks with the original where the file system supports it. Nothing is overwritten. */
const COPY_FLAGS = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;
/** Copying a small file synchronously is faster than asking another thread. */
const SMALL_FILE_BYTES = 256 * 1024;
/** How many entries are copied before other executions get a turn. */
const BATCH = 64;

/** Copies entries of a directory to another one, with their modes. */
export const copyTree = async (entries: readonly TreeEntry[], from: string, to: string): Promise<void> => {
  for (const [index, entry] of entries.entries()) {
    const target = join(to, entry.path);
    if (entry.kind === "directory") mkdirSync(target, { mode: 0o700 });
    else if (entry.kind === "link") symlinkSync(entry.target, target);
    else if (entry.bytes > SMALL_FILE_BYTES) await copyFile(join(from, entry.path), target, COPY_FLAGS);
    else copyFileSync(join(from, entry.path), target, COPY_FLAGS);
    if ((index + 1) % BATCH === 0) await setImmediate();
  }
  // At the end: no file can be created in a read-only directory.
  for (const entry of entries) {
    if (entry.kind === "directory") chmodSync(join(to, entry.path), entry.mode);
  }
};
