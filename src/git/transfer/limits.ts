import { ImportRefusedError } from "../../errors.ts";

const MEBIBYTE = 1024 * 1024;

/**
 * The resources that an import may take on the host. A pack of a few kilobytes can unpack to terabytes, and a few trees
 * can name billions of files: without limits an agent could exhaust the host's memory, time and disk. Each limit is far
 * above what a person would commit in one session.
 */
export const IMPORT_LIMITS = {
  /** Git keeps a whole object in memory when it resolves a delta. */
  objectBytes: 256 * MEBIBYTE,
  /** The unpacked size of all objects of an import: it bounds the time that git takes to hash them. */
  unpackedBytes: 4096 * MEBIBYTE,
  objects: 1_000_000,
  refs: 10_000,
  /** Number and size of the files that differ from the base commit: it bounds what a checkout writes. */
  changedFiles: 500_000,
  changedBytes: 4096 * MEBIBYTE,
  /** Leaves room for the path of a worktree within the system's limit. */
  pathBytes: 2048,
  nameBytes: 255,
} as const;

export type ImportLimits = { readonly [Name in keyof typeof IMPORT_LIMITS]: number };

const shown = (bytes: number): string => `${Math.round(bytes / MEBIBYTE)} MiB`;

const DESCRIPTIONS: { readonly [Name in keyof ImportLimits]: (limit: number) => string } = {
  objectBytes: (limit) => `one object unpacks to more than ${shown(limit)}`,
  unpackedBytes: (limit) => `the objects unpack to more than ${shown(limit)}`,
  objects: (limit) => `there are more than ${limit} objects`,
  refs: (limit) => `there are more than ${limit} refs`,
  changedFiles: (limit) => `they change more than ${limit} files`,
  changedBytes: (limit) => `a checkout of what they change takes more than ${shown(limit)}`,
  pathBytes: (limit) => `a path in them is longer than ${limit} bytes`,
  nameBytes: (limit) => `a file name in them is longer than ${limit} bytes`,
};

export const limitExceeded = (
  name: keyof ImportLimits,
  bundlePath: string | undefined,
  limits: ImportLimits = IMPORT_LIMITS,
): ImportRefusedError =>
  new ImportRefusedError(`${DESCRIPTIONS[name](limits[name])} (the limit ${name})`, bundlePath);
