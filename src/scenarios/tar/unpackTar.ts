import { constants } from "node:fs";
import { chmod, type FileHandle, link, mkdir, open, symlink } from "node:fs/promises";
import { readTar, type TarEntry } from "./readTar.ts";
import { BadArchiveError } from "./tarHeader.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Without setuid and setgid bits. */
const PERMISSIONS = 0o777;
/** The owner must be able to fill and remove a directory. */
const OWNER = 0o700;

const partsOf = (path: string): readonly string[] => {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || path.includes("\0")) {
    throw new BadArchiveError(`${JSON.stringify(path)} is no path inside of it`);
  }
  return parts;
};

/** Unpacks into a directory of its own, and only through directories that it has created itself. */
class Unpacker {
  /** The entries that were created, by path. */
  readonly #made = new Map<string, TarEntry["type"]>([["", "directory"]]);

  constructor(
    private readonly archive: FileHandle,
    private readonly directory: string,
  ) {}

  async unpack(entry: TarEntry): Promise<void> {
    const parts = partsOf(entry.path);
    if (entry.type === "directory") {
      await this.#makeDirectory(parts);
      await chmod(this.#place(parts), (entry.mode & PERMISSIONS) | OWNER);
      return;
    }
    await this.#makeDirectory(parts.slice(0, -1));
    const path = parts.join("/");
    if (this.#made.has(path)) throw new BadArchiveError(`${JSON.stringify(path)} is in it twice`);
    this.#made.set(path, entry.type);
    if (entry.type === "file") await this.#writeFile(entry, parts);
    else if (entry.type === "hardLink") await this.#link(entry, parts);
    else await symlink(Buffer.from(entry.target, "latin1"), this.#place(parts));
  }

  #place(parts: readonly string[]): Buffer {
    return Buffer.concat([Buffer.from(`${this.directory}/`), Buffer.from(parts.join("/"), "latin1")]);
  }

  async #makeDirectory(parts: readonly string[]): Promise<void> {
    for (let depth = 1; depth <= parts.length; depth++) {
      const above = parts.slice(0, depth);
      const path = above.join("/");
      const type = this.#made.get(path);
      if (type === "directory") continue;
      if (type !== undefined) throw new BadArchiveError(`${JSON.stringify(path)} is no directory`);
      await mkdir(this.#place(above));
      this.#made.set(path, "directory");
    }
  }

  async #writeFile({ mode, size, offset }: TarEntry, parts: readonly string[]): Promise<void> {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const file = await open(this.#place(parts), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    try {
      const chunk = Buffer.alloc(Math.min(size, CHUNK_BYTES));
      for (let copied = 0; copied < size; ) {
        const length = Math.min(chunk.length, size - copied);
        const { bytesRead } = await this.archive.read(chunk, 0, length, offset + copied);
        if (bytesRead === 0) throw new BadArchiveError("it is not complete");
        await file.writeFile(chunk.subarray(0, bytesRead));
        copied += bytesRead;
      }
      await file.chmod(mode & PERMISSIONS);
    } finally {
      await file.close();
    }
  }

  async #link({ path, target }: TarEntry, parts: readonly string[]): Promise<void> {
    const targetParts = partsOf(target);
    if (this.#made.get(targetParts.join("/")) !== "file") {
      throw new BadArchiveError(`the hard link ${JSON.stringify(path)} leads to no file in it`);
    }
    await link(this.#place(targetParts), this.#place(parts));
  }
}

/**
 * Unpacks an untrusted archive into a new directory. Symbolic links are kept, wherever they lead, but nothing is
 * written through them. Rejects with a `BadArchiveError`; entries that were unpacked by then are of no use.
 */
export const unpackTar = async (
  archivePath: string,
  directory: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<void> => {
  const archive = await open(archivePath, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await archive.stat();
    if (size > maxBytes) throw new BadArchiveError(`it is larger than ${maxBytes} bytes`);
    const unpacker = new Unpacker(archive, directory);
    for await (const entry of readTar(archive)) await unpacker.unpack(entry);
  } finally {
    await archive.close();
  }
};
