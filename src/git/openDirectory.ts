import { closeSync, constants, openSync } from "node:fs";
import { hostSystem } from "../process/host/system.ts";

/** For the place alone, where possible: that takes no right to read the directory, which an agent may withhold. */
const flags = (): number => hostSystem().placeOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const SLASH = Buffer.from("/");

/** A directory that is held open: whatever becomes of its path, this is the one. */
export interface OpenDirectory {
  readonly descriptor: number;
  /** A path to it, and to something in it, that nobody can lead elsewhere. */
  readonly path: Buffer;
  entry(name: string): Buffer;
}

const opened = (descriptor: number, ownPath: Buffer): OpenDirectory => {
  const path = hostSystem().pathOfDirectory(descriptor, ownPath);
  return { descriptor, path, entry: (name) => Buffer.concat([path, SLASH, Buffer.from(name, "latin1")]) };
};

/**
 * Opens a directory below `root`, one step after the other, and hands it to `use`. No step follows a symbolic link:
 * throws where somebody has put one in the place of a directory. Names are `latin1`, which keeps any bytes.
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
