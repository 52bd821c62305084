import { type Dirent, opendirSync } from "node:fs";

/**
 * Lists a directory that a program may have filled with any number of entries. Throws a `RangeError` if there are more than `limit`. The
 * names are `latin1`, which preserves any bytes, unless another encoding is asked for.
 */
export const listAtMost = (
  directory: string | Buffer,
  limit: number,
  encoding: BufferEncoding = "latin1",
): Dirent[] => {
  const entries: Dirent[] = [];
  // Its type knows no buffers, which it takes as any path.
  const opened = opendirSync(directory as string, { encoding });
  try {
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (entries.push(entry) > limit) throw new RangeError("there are too many entries");
    }
  } finally {
    opened.closeSync();
  }
  return entries;
};
