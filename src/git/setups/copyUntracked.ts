import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  read as readCallback,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  symlinkSync,
  utimesSync,
  write as writeCallback,
  writeSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { type OpenDirectory, withOpenDirectory } from "../../process/openDirectory.ts";
import { isRoot } from "../../process/overlay/layers.ts";
import { displayPath, NotKeptError } from "./notKept.ts";

/** Counts what was copied. */
export interface CopiedTree {
  files: number;
  bytes: number;
}

/** A file that is being copied, by its open descriptors. */
interface OpenCopy {
  readonly source: number;
  readonly target: number;
  readonly stats: Stats;
}

interface TreeCopy {
  /** `latin1`, as all paths here. */
  readonly from: string;
  readonly to: string;
  /** The reason why an entry cannot be kept, if there is one. */
  readonly refuse: (path: string, name: string) => string | undefined;
  readonly copied: CopiedTree;
  readonly signal: AbortSignal;
  readonly large: OpenCopy[];
  /** Applied at the end: writing into a directory changes its time, and may need other rights. */
  readonly directories: Map<string, Stats>;
}

/** Set-uid, set-gid and the sticky bit are not kept. */
const PERMISSIONS = 0o777;
const BUFFER = Buffer.allocUnsafe(256 * 1024);
const PIECE_BYTES = 4 * 1024 * 1024;
/** How many entries are copied before other runs continue. */
const AT_ONCE = 50;
const MAX_HOLLOW_BYTES = 64 * 1024 * 1024;

const read = promisify(readCallback);
const write = promisify(writeCallback);

const bytesOf = (path: string): Buffer => Buffer.from(path, "latin1");

/** Only root can give files to other users. */
const own = (change: (uid: number, gid: number) => void, { uid, gid }: Stats): void => {
  if (isRoot()) change(uid, gid);
};

/** Copies a content of at most `size` bytes, and lets other runs of this process continue after each piece. */
const copyContent = async (
  { source, target, stats: { size } }: OpenCopy,
  signal: AbortSignal,
): Promise<void> => {
  const buffer = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
  for (let left = size; left > 0; ) {
    signal.throwIfAborted();
    const { bytesRead } = await read(source, buffer, 0, Math.min(left, buffer.length), null);
    if (bytesRead === 0) return;
    // On a full disk only the next write fails.
    for (let done = 0; done < bytesRead; )
      done += (await write(target, buffer, done, bytesRead - done)).bytesWritten;
    left -= bytesRead;
  }
};

/** The same at once, for a small file. */
const copySmall = ({ source, target, stats: { size } }: OpenCopy): void => {
  for (let left = size; left > 0; ) {
    const count = readSync(source, BUFFER, 0, left, null);
    if (count === 0) return;
    for (let done = 0; done < count; ) done += writeSync(target, BUFFER, done, count - done);
    left -= count;
  }
};

const close = ({ source, target }: OpenCopy): void => {
  closeSync(source);
  closeSync(target);
};

const finishFile = (tree: TreeCopy, { target, stats }: OpenCopy): void => {
  own((uid, gid) => fchownSync(target, uid, gid), stats);
  fchmodSync(target, stats.mode & PERMISSIONS);
  futimesSync(target, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  tree.copied.files++;
  tree.copied.bytes += stats.size;
};

const openCopy = (tree: TreeCopy, entry: Buffer, path: string): OpenCopy => {
  const source = openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(source);
    if (!stats.isFile()) throw new NotKeptError(`${displayPath(path)} was replaced while it was copied`);
    // A sparse file takes no space in the sandbox, but would fill the host's disk.
    if (stats.size > MAX_HOLLOW_BYTES && stats.blocks * 512 < stats.size / 8)
      throw new NotKeptError(`${displayPath(path)} is a sparse file of ${stats.size} bytes`);
    return { source, target: openSync(bytesOf(`${tree.to}/${path}`), "wx", 0o600), stats };
  } catch (error) {
    closeSync(source);
    throw error;
  }
};

/** Copies a small file. A large one stays open, and is copied when its directory is closed. */
const copyFile = (tree: TreeCopy, entry: Buffer, path: string): void => {
  const copy = openCopy(tree, entry, path);
  if (copy.stats.size > BUFFER.length) {
    tree.large.push(copy);
    return;
  }
  try {
    copySmall(copy);
    finishFile(tree, copy);
  } finally {
    close(copy);
  }
};

const copyLarge = async (tree: TreeCopy): Promise<void> => {
  for (let copy = tree.large.pop(); copy !== undefined; copy = tree.large.pop()) {
    try {
      await copyContent(copy, tree.signal);
      finishFile(tree, copy);
    } finally {
      close(copy);
    }
  }
};

const copyLink = (tree: TreeCopy, entry: Buffer, path: string, stats: Stats): void => {
  const target = bytesOf(`${tree.to}/${path}`);
  symlinkSync(readlinkSync(entry, "buffer"), target);
  own((uid, gid) => lchownSync(target, uid, gid), stats);
  lutimesSync(target, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  tree.copied.files++;
};

const makeDirectory = (tree: TreeCopy, path: string, stats: Stats): void => {
  if (tree.directories.has(path)) return;
  mkdirSync(bytesOf(`${tree.to}/${path}`), { mode: 0o700 });
  tree.directories.set(path, stats);
};

/** Copies one entry. Succeeds with whether it is a directory, whose entries come later. */
const copyEntry = (tree: TreeCopy, directory: OpenDirectory, name: string, path: string): boolean => {
  const refusal = tree.refuse(path, name);
  if (refusal !== undefined) throw new NotKeptError(`${displayPath(path)} ${refusal}`);
  const entry = directory.entry(name);
  const stats = lstatSync(entry);
  if (stats.isDirectory()) {
    makeDirectory(tree, path, stats);
    return true;
  }
  if (stats.isFile()) copyFile(tree, entry, path);
  else if (stats.isSymbolicLink()) copyLink(tree, entry, path, stats);
  else throw new NotKeptError(`${displayPath(path)} is a device, a socket or a named pipe`);
  return false;
};

const namesIn = ({ from }: TreeCopy, steps: readonly string[]): string[] =>
  withOpenDirectory(from, steps, ({ path }) => readdirSync(path, "latin1"));

/**
 * Copies entries of a directory, and returns those that are directories. No step follows a symbolic link that a process in the sandbox
 * has put there.
 */
const copyEntries = (tree: TreeCopy, steps: readonly string[], names: readonly string[]): string[] =>
  withOpenDirectory(tree.from, steps, (directory) =>
    names.filter((name) => copyEntry(tree, directory, name, [...steps, name].join("/"))),
  );

const copyBelow = async (
  tree: TreeCopy,
  steps: readonly string[],
  names: readonly string[] = namesIn(tree, steps),
): Promise<void> => {
  for (let start = 0; start < names.length; start += AT_ONCE) {
    tree.signal.throwIfAborted();
    const directories = copyEntries(tree, steps, names.slice(start, start + AT_ONCE));
    await copyLarge(tree);
    // Other runs of this process continue meanwhile.
    await setImmediate();
    for (const name of directories) await copyBelow(tree, [...steps, name]);
  }
};

/** Makes the directories that a path is in, with the modes and times of the originals. */
const makeParents = (tree: TreeCopy, parents: readonly string[]): void => {
  for (const [index, name] of parents.entries()) {
    const path = [...parents.slice(0, index), name].join("/");
    if (tree.directories.has(path)) continue;
    withOpenDirectory(tree.from, parents.slice(0, index), (directory) => {
      const stats = lstatSync(directory.entry(name));
      if (!stats.isDirectory()) throw new NotKeptError(`${displayPath(path)} is no directory any more`);
      makeDirectory(tree, path, stats);
    });
  }
};

const finishDirectories = ({ to, directories }: TreeCopy): void => {
  for (const [path, stats] of [...directories].reverse()) {
    const target = bytesOf(`${to}/${path}`);
    own((uid, gid) => lchownSync(target, uid, gid), stats);
    chmodSync(target, stats.mode & PERMISSIONS);
    utimesSync(target, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  }
};

/**
 * Copies entries of a directory that a sandbox can write to, even if a process in it changes them meanwhile: no host file outside
 * of the directory is read. Rejects with a `NotKeptError` if an entry cannot be kept. `paths` are `latin1`.
 */
export const copyUntracked = async (
  options: Pick<TreeCopy, "from" | "to" | "refuse" | "signal">,
  paths: readonly string[],
): Promise<CopiedTree> => {
  const [from, to] = [options.from, options.to].map((path) => Buffer.from(path).toString("latin1"));
  const tree: TreeCopy = {
    ...options,
    from: from ?? "",
    to: to ?? "",
    copied: { files: 0, bytes: 0 },
    large: [],
    directories: new Map(),
  };
  try {
    for (const path of paths) {
      const parts = path.replace(/\/$/, "").split("/");
      makeParents(tree, parts.slice(0, -1));
      await copyBelow(tree, parts.slice(0, -1), parts.slice(-1));
    }
  } finally {
    for (const copy of tree.large) close(copy);
  }
  finishDirectories(tree);
  return tree.copied;
};
