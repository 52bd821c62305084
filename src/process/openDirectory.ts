import { closeSync, constants, openSync } from "node:fs";
import { hostSystem } from "./host/system.ts";

/** O_PATH where the system has it: it needs no read permission, which an agent may have removed. */
const flags = (): number => hostSystem().placeOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SLASH = Buffer.from("/");

/** An open directory: it stays the same one when its path is renamed or replaced. */
export interface OpenDirectory {
  readonly descriptor: number;
  /** A path by the descriptor, which no symbolic link can redirect. */
  readonly path: Buffer;
  entry(name: string): Buffer;
}

const opened = (descriptor: number, ownPath: Buffer): OpenDirectory => {
  const path = hostSystem().pathOfDirectory(descriptor, ownPath);
  return { descriptor, path, entry: (name) => Buffer.concat([path, SLASH, Buffer.from(name, "latin1")]) };
};

/**
 * Opens a directory below `root` step by step, and calls `use` with it. No step follows a symbolic link: throws if one
 * has replaced a directory. Names are `latin1`, which preserves any bytes.
 */
export const withOpenDirectory = <A>(
  root: string,
  steps: readonly string[],
  use: (directory: OpenDirectory) => A,
): A => {
  let path = Buffer.from(root, "latin1");
  let directory = opened(openSync(path, flags()), path);
  try {
    for (const step of steps) {
      path = Buffer.concat([path, SLASH, Buffer.from(step, "latin1")]);
      const next = openSync(directory.entry(step), flags());
      closeSync(directory.descriptor);
      directory = opened(next, path);
    }
    return use(directory);
  } finally {
    closeSync(directory.descriptor);
  }
};
