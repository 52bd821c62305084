import { open } from "node:fs/promises";
import { constants, inflateSync } from "node:zlib";
import { ImportRefusedError } from "../../errors.ts";

/** Of a file that git wrote, the first few bytes hold the header: the type, and the size of what follows. */
const START_BYTES = 512;

/** How large a loose object is when it is unpacked, as it says itself. Git takes that much memory to read it. */
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
