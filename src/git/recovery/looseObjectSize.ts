import { open } from "node:fs/promises";
import { constants, inflateSync } from "node:zlib";
import { ImportRefusedError } from "../../errors.ts";

/** Enough for the header of a loose object: its type and its size. */
const START_BYTES = 512;

/** The unpacked size that a loose object declares. Git allocates that much memory to read it. */
export const looseObjectSize = async (path: string): Promise<number> => {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
  const start = () => {
    try {
      const options = { finishFlush: constants.Z_SYNC_FLUSH };
      return inflateSync(buffer.subarray(0, bytesRead), options).toString("latin1", 0, 64);
    } catch {
      return "";
    }
  };
  const [, size] = /^[a-z]+ (\d+)\0/.exec(start()) ?? [];
  if (size === undefined) throw new ImportRefusedError("it is malformed", undefined);
  return Number(size);
};
