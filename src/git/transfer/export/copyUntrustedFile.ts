import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { pipeline } from "node:stream/promises";
import { ImportRefusedError } from "../../../errors.ts";

const MAX_HOLLOW_BYTES = 64 * 1024 * 1024;

/** A file up to this size is read at once: a stream would wait for the thread pool several times. */
const SMALL_BYTES = 1024 * 1024;

const open = (untrustedPath: string): number => {
  try {
    return openSync(untrustedPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ImportRefusedError(`${untrustedPath} cannot be read as a file (${code})`, undefined);
  }
};

const checkedSize = (stat: Stats, untrustedPath: string, maxBytes: number): number => {
  if (!stat.isFile()) throw new ImportRefusedError(`${untrustedPath} is not a regular file`, undefined);
  // A sparse file takes no space in the sandbox, but would fill the host's disk. Packs are never sparse.
  const isHollow = stat.size > MAX_HOLLOW_BYTES && stat.blocks * 512 < stat.size / 8;
  if (stat.size > maxBytes || isHollow) {
    throw new ImportRefusedError(`${untrustedPath} claims to have ${stat.size} bytes`, undefined);
  }
  return stat.size;
};

interface OpenFile {
  readonly descriptor: number;
  readonly size: number;
}

const openChecked = (untrustedPath: string, maxBytes: number): OpenFile => {
  const descriptor = open(untrustedPath);
  try {
    return { descriptor, size: checkedSize(fstatSync(descriptor), untrustedPath, maxBytes) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
};

/** Only up to the size that was checked: a process in the sandbox may keep writing, or make the file shorter. */
const readAndClose = ({ descriptor, size }: OpenFile): Buffer => {
  try {
    const bytes = Buffer.alloc(size);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) {
      read = readSync(descriptor, bytes, length, size - length, null);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
};

/** Reads a short file as `copyUntrustedFile` would copy it. */
export const readUntrustedFile = (untrustedPath: string, maxBytes: number): Buffer =>
  readAndClose(openChecked(untrustedPath, maxBytes));

const copyAndClose = async (source: OpenFile, hostPath: string): Promise<void> => {
  const mode = 0o600;
  if (source.size <= SMALL_BYTES) {
    writeFileSync(hostPath, readAndClose(source), { flag: "wx", mode });
    return;
  }
  // The stream closes the descriptor, also when the writing fails.
  const bytes = createReadStream("", { fd: source.descriptor, end: source.size - 1 });
  await pipeline(bytes, createWriteStream(hostPath, { flags: "wx", mode }));
};

/**
 * Copies a file from a directory that a sandbox can write to. Callers must use only the copy: the sandbox can change
 * the original at any time, and it may be a symbolic link to a host file or a FIFO.
 */
export const copyUntrustedFile = async (
  untrustedPath: string,
  hostPath: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<void> => {
  const source = openChecked(untrustedPath, maxBytes);
  try {
    await copyAndClose(source, hostPath);
  } catch (error) {
    // Errors of writes do not name the file.
    throw Object.assign(error as NodeJS.ErrnoException, {
      path: (error as NodeJS.ErrnoException).path ?? hostPath,
    });
  }
};
