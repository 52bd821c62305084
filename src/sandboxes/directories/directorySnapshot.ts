import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../../errors.ts";
import { copyTree } from "../../process/copyTree.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import type { SandboxSnapshot, SnapshotOptions } from "../contract.ts";

/** Nothing has to be found again: the files are in the directory of the snapshot. */
const STATE = "files";

/** Copies the named directories of a sandbox into the directory of its snapshot. */
export const keepDirectories = async (
  sandboxDirectory: string,
  names: readonly string[],
  { directory, signal }: SnapshotOptions,
): Promise<string> => {
  try {
    for (const name of names) await copyTree(join(sandboxDirectory, name), join(directory, name), signal);
    return STATE;
  } catch (error) {
    for (const name of names) await removeDirectory(join(directory, name)).catch(() => {});
    throw error;
  }
};

/** Makes the named directories of a new sandbox: empty, or those of a snapshot. */
export const makeDirectories = async (
  sandboxDirectory: string,
  names: readonly string[],
  {
    provider,
    snapshot,
    signal,
  }: {
    readonly provider: string;
    readonly snapshot: SandboxSnapshot | undefined;
    readonly signal: AbortSignal | undefined;
  },
): Promise<void> => {
  if (snapshot !== undefined && snapshot.state !== STATE)
    throw new SandboxError(provider, `the snapshot ${snapshot.name} was not made by it`);
  for (const name of names) {
    const path = join(sandboxDirectory, name);
    await (snapshot === undefined ? mkdir(path) : copyTree(join(snapshot.directory, name), path, signal));
  }
};
