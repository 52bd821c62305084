import type { FileHandle } from "node:fs/promises";
import { type Announced, readExtendedHeader } from "./extendedHeader.ts";
import { BadArchiveError, BLOCK_BYTES, readHeader, type TarHeader } from "./tarHeader.ts";

/** An entry of an archive. Names are bytes, one character for each. */
export interface TarEntry {
  readonly type: "file" | "directory" | "symbolicLink" | "hardLink";
  readonly path: string;
  /** The target of a link. */
  readonly target: string;
  readonly mode: number;
  readonly size: number;
  /** The offset of its content in the archive. */
  readonly offset: number;
}

const MAX_ENTRIES = 500_000;
/** Far more than the longest path needs. */
const MAX_METADATA_BYTES = 64 * 1024;

const TYPES: Readonly<Record<string, TarEntry["type"]>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "hardLink",
  "2": "symbolicLink",
  "5": "directory",
};
const FIFO = "6";
const EXTENDED_FOR_ALL = "g";

/** The field of the next entry that each type of extended header sets. */
const ANNOUNCEMENTS: Readonly<Record<string, (text: string) => Announced>> = {
  L: (text) => ({ path: text.replace(/\0.*$/s, "") }),
  K: (text) => ({ target: text.replace(/\0.*$/s, "") }),
  x: readExtendedHeader,
};

const readFully = async (archive: FileHandle, offset: number, length: number): Promise<Buffer> => {
  const { bytesRead, buffer } = await archive.read(Buffer.alloc(length), 0, length, offset);
  if (bytesRead < length) throw new BadArchiveError("it is not complete");
  return buffer;
};

const blocksOf = (size: number): number => Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;

const entryOf = (header: TarHeader, announced: Announced, offset: number): TarEntry => {
  const path = announced.path ?? header.path;
  const target = announced.target ?? header.target;
  const type = TYPES[header.type];
  if (type === undefined) {
    throw new BadArchiveError(`${JSON.stringify(path)} is neither a file, a directory nor a link`);
  }
  const size = type === "file" ? (announced.size ?? header.size) : 0;
  return { type, path, target, mode: header.mode, size, offset };
};

/**
 * Reads the headers of an archive, in the formats that `tar` writes: ustar, pax and GNU. Named pipes are left out.
 * Throws a `BadArchiveError` for entries that `tar` itself would not write.
 */
export async function* readTar(archive: FileHandle): AsyncGenerator<TarEntry> {
  let announced: Announced = {};
  let offset = 0;
  for (let count = 0; count < MAX_ENTRIES; count++) {
    const header = readHeader(await readFully(archive, offset, BLOCK_BYTES));
    offset += BLOCK_BYTES;
    if (header === undefined) return;
    const announce = ANNOUNCEMENTS[header.type];
    if (announce !== undefined) {
      if (header.size > MAX_METADATA_BYTES) throw new BadArchiveError("it has a name of an absurd length");
      const text = (await readFully(archive, offset, header.size)).toString("latin1");
      announced = { ...announced, ...announce(text) };
      offset += blocksOf(header.size);
      continue;
    }
    if (header.type === EXTENDED_FOR_ALL) {
      offset += blocksOf(header.size);
      continue;
    }
    if (header.type !== FIFO) {
      const entry = entryOf(header, announced, offset);
      yield entry;
      offset += blocksOf(entry.size);
    }
    announced = {};
  }
  throw new BadArchiveError(`it has more than ${MAX_ENTRIES} entries`);
}
