import { createHash } from "node:crypto";
import { constants, mkdirSync, realpathSync } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { findInside, type Place } from "./findInside.ts";

/** `other` is neither a file nor a directory, for instance a named pipe or a broken link. */
export type EntryKind = "file" | "directory" | "absent" | "other";

const kindOf = ({ status, isLink }: Place): EntryKind => {
  if (status === undefined) return isLink ? "other" : "absent";
  if (status.isFile()) return "file";
  return status.isDirectory() ? "directory" : "other";
};

const requireFile = (place: Place): void => {
  const kind = kindOf(place);
  if (kind === "absent") throw new Error("there is no such file");
  if (kind === "directory") throw new Error("it is a directory");
  if (kind === "other") throw new Error("it is not a regular file");
};

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants;

/**
 * The files of a project, which an agent may have prepared as an attack. Paths are relative to the project. Links are
 * followed as long as they stay inside; every method throws for a path that leaves the project. The check before
 * opening a file is sufficient because no process of the agent is running.
 */
export class ProjectFiles {
  readonly root: string;

  constructor(root: string) {
    this.root = realpathSync(root);
  }

  kindOf(path: string): EntryKind {
    return kindOf(findInside(this.root, path));
  }

  /** The file's bytes. Throws if there are more than `maxBytes`. */
  read(path: string, maxBytes: number): Promise<Buffer> {
    return this.#withFile(path, async (file) => {
      const { size } = await file.stat();
      if (size > maxBytes) throw new Error(`it has ${size} bytes, and no more than ${maxBytes} are read`);
      return file.readFile();
    });
  }

  /** The file's hash in hexadecimal digits. The file may have any size. */
  sha256(path: string, signal: AbortSignal): Promise<string> {
    return this.#withFile(path, async (file) => {
      const hash = createHash("sha256");
      await pipeline(file.createReadStream({ autoClose: false }), hash, { signal });
      return hash.digest("hex");
    });
  }

  /** Writes or replaces a file. Missing directories are created. */
  async write(path: string, content: string): Promise<void> {
    const place = this.#placeToWrite(path);
    mkdirSync(dirname(place), { recursive: true });
    await writeFile(place, content, { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW });
  }

  /** Appends to a file, which is created if it does not exist. */
  async append(path: string, content: string): Promise<void> {
    await writeFile(this.#placeToWrite(path), content, { flag: O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW });
  }

  #placeToWrite(path: string): string {
    const place = findInside(this.root, path);
    if (place.status !== undefined) requireFile(place);
    return place.path;
  }

  async #withFile<A>(path: string, use: (file: FileHandle) => Promise<A>): Promise<A> {
    const place = findInside(this.root, path);
    requireFile(place);
    const file = await open(place.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }
}
