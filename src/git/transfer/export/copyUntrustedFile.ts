import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { ImportRefusedError } from "../../../errors.ts";

const MAX_HOLLOW_BYTES = 64 * 1024 * 1024;

/**
 * Copies a file from a directory that a sandbox can write to. Callers must use only the copy: the sandbox can change
 * the original at any time, and it may be a symbolic link to a host file or a FIFO.
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
    // A sparse file takes no space in the sandbox, but would fill the host's disk. Packs are never sparse.
    const isHollow = stat.size > MAX_HOLLOW_BYTES && stat.blocks * 512 < stat.size / 8;
    if (stat.size > maxBytes || isHollow) {
      throw new ImportRefusedError(`${untrustedPath} claims to have ${stat.size} bytes`, undefined);
    }
    const destination = await open(hostPath, "wx", 0o600);
    // Only up to the size that was checked: a process in the sandbox may keep writing.
    const bytes = stat.size === 0 ? [] : source.createReadStream({ autoClose: false, end: stat.size - 1 });
    await pipeline(bytes, destination.createWriteStream()).catch((error: NodeJS.ErrnoException) => {
      // Errors of writes do not name the file.
      throw Object.assign(error, { path: error.path ?? hostPath });
    });
  } finally {
    await source.close();
  }
};
