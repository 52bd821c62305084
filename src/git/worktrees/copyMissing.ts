import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type CopyLimits, copyInto, requireTime } from "./copyFiles.ts";

const BLOCK_BYTES = 64 * 1024;

/** Both are regular files of the same size. */
const haveSameContent = async (one: string, other: string): Promise<boolean> => {
  await using first = await open(one);
  await using second = await open(other);
  const [buffer, otherBuffer] = [Buffer.alloc(BLOCK_BYTES), Buffer.alloc(BLOCK_BYTES)];
  for (;;) {
    const [{ bytesRead }, read] = await Promise.all([first.read(buffer), second.read(otherBuffer)]);
    if (bytesRead !== read.bytesRead) return false;
    if (!buffer.subarray(0, bytesRead).equals(otherBuffer.subarray(0, bytesRead))) return false;
    if (bytesRead === 0) return true;
  }
};

const areSame = async (source: string, destination: string, one: Stats, other: Stats): Promise<boolean> => {
  if (one.isSymbolicLink() && other.isSymbolicLink()) {
    return readlinkSync(source, "buffer").equals(readlinkSync(destination, "buffer"));
  }
  if (!one.isFile() || !other.isFile() || one.size !== other.size) return false;
  // A copy keeps the modification time of its original, so most files need not be read.
  return one.mtimeMs === other.mtimeMs || haveSameContent(source, destination);
};

/** An item with its source and destination. */
export interface CopyStep {
  readonly item: string;
  readonly source: string;
  readonly destination: string;
}

/**
 * Copies files that are missing at the destination, and replaces none. A missing file that git tracks was deleted, so
 * it is not copied. Resolves with the paths at the destination that differ from the source. Does not follow links.
 */
export const copyMissing = async (
  { item, source, destination }: CopyStep,
  isTracked: (path: string) => boolean,
  limits: CopyLimits,
): Promise<readonly string[]> => {
  requireTime(limits);
  const [one, other] = [lstatSync(source), lstatSync(destination, { throwIfNoEntry: false })];
  if (other === undefined) return [destination];
  if (!one.isDirectory() || !other.isDirectory()) {
    return (await areSame(source, destination, one, other)) ? [] : [destination];
  }
  const present = new Set(await readdir(destination));
  const names = await readdir(source);
  const isMissing = (name: string) => !present.has(name) && !isTracked(join(destination, name));
  const missing = names.filter(isMissing).map((name) => join(source, name));
  await copyInto(item, missing, destination, limits);
  const differing: string[] = [];
  for (const name of names.filter((name) => !isMissing(name))) {
    const step = { item, source: join(source, name), destination: join(destination, name) };
    differing.push(...(await copyMissing(step, isTracked, limits)));
  }
  return differing;
};
