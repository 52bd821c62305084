import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { ImportRefusedError } from "../../../errors.ts";

const MAX_HOLLOW_BYTES = 64 * 1024 * 1024;

/**
 * Copies a file out of a directory that a sandbox can write to. The copy is what is used from then on: the original
 * may be changed at any time, or be a symbolic link to a file of the host's, or a FIFO that never ends.
 */
export const copyUntrustedFile = async (
  untrustedPath: string,
  hostPath: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<void> => {
  const source = await open(
    untrustedPath,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((cause) => {
    throw new ImportRefusedError(`${untrustedPath} cannot be read as a file (${cause.code})`, undefined);
  });
  try {
    const stat = await source.stat();
    if (!stat.isFile()) throw new ImportRefusedError(`${untrustedPath} is not a regular file`, undefined);
    // A file with holes takes no room in the sandbox, but would fill the host's disk; packs have none.
    const isHollow = stat.size > MAX_HOLLOW_BYTES && stat.blocks * 512 < stat.size / 8;
    if (stat.size > maxBytes || isHollow) {
      throw new ImportRefusedError(`${untrustedPath} claims to have ${stat.size} bytes`, undefined);
    }
    const destination = await open(hostPath, "wx", 0o600);
    // Not more than there was when it was looked at: something in the sandbox may go on writing for ever.
    const bytes = stat.size === 0 ? [] : source.createReadStream({ autoClose: false, end: stat.size - 1 });
    await pipeline(bytes, destination.createWriteStream()).catch((error: NodeJS.ErrnoException) => {
      // An error of a write does not say by itself what could not be written.
      throw Object.assign(error, { path: error.path ?? hostPath });
    });
  } finally {
    await source.close();
  }
};
