import { createHash } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { withOpenDirectory } from "../../process/openDirectory.ts";
import type { GitFile } from "../diffTree.ts";
import { fromText } from "../output.ts";

/** The state of a file's path in a checkout. */
export type CheckoutFile =
  /** `isObstructed`: one of its directories is replaced by something else. */
  | { readonly type: "absent"; readonly isObstructed: boolean }
  /** A directory or a socket, for instance: not a file that git wrote. */
  | { readonly type: "other" }
  | { readonly type: "link"; readonly sha: string; readonly changedAtMs: number; readonly device: number }
  | {
      readonly type: "file";
      readonly isExecutable: boolean;
      readonly size: number;
      readonly changedAtMs: number;
      readonly device: number;
    };

const OBSTRUCTED_CODES = ["ENOTDIR", "ELOOP"];

/** Opens the directory of a file in a checkout, and calls `use` with a path of the file that no link can redirect. */
export const withFile = <A>(checkoutPath: string, path: string, use: (entry: Buffer) => A): A => {
  const steps = path.split("/");
  return withOpenDirectory(fromText(checkoutPath), steps.slice(0, -1), (directory) =>
    use(directory.entry(steps.at(-1) as string)),
  );
};

const linkSha = (target: Buffer, like: string): string =>
  createHash(like.length === 64 ? "sha256" : "sha1")
    .update(`blob ${target.length}\0`)
    .update(target)
    .digest("hex");

/** A path is absent if one of its directories is missing or a symbolic link. */
export const inspectFile = (checkoutPath: string, path: string, anySha: string): CheckoutFile => {
  try {
    return withFile(checkoutPath, path, (entry): CheckoutFile => {
      const status = lstatSync(entry);
      const seen = { changedAtMs: status.ctimeMs, device: status.dev };
      if (status.isSymbolicLink()) {
        return { type: "link", sha: linkSha(readlinkSync(entry, { encoding: "buffer" }), anySha), ...seen };
      }
      if (!status.isFile()) return { type: "other" };
      return { type: "file", isExecutable: (status.mode & 0o100) !== 0, size: status.size, ...seen };
    });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isObstructed = OBSTRUCTED_CODES.includes(code);
    if (isObstructed || code === "ENOENT") return { type: "absent", isObstructed };
    throw error;
  }
};

const LINK = "120000";
const EXECUTABLE = "100755";

/** Whether a file has the type and content of git's version. `sha` is for a regular file. */
export const isContentOf = (
  file: CheckoutFile,
  sha: string | undefined,
  wanted: GitFile | undefined,
): boolean => {
  if (wanted === undefined) return file.type === "absent" || file.type === "other";
  if (wanted.mode === LINK) return file.type === "link" && file.sha === wanted.sha;
  return file.type === "file" && sha === wanted.sha;
};

/** Whether it also has the executable bit of git's version. */
export const hasModeOf = (file: CheckoutFile, wanted: GitFile | undefined): boolean =>
  file.type !== "file" || wanted === undefined || file.isExecutable === (wanted.mode === EXECUTABLE);

/** Opens a regular file of a checkout to read it. */
export const openFile = (checkoutPath: string, path: string): number =>
  withFile(checkoutPath, path, (entry) =>
    openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );

const READ_BYTES = 64 * 1024;

/**
 * Compares a regular file with content that arrives in chunks: is the file a prefix of that content? A killed git
 * leaves such a file, and a power cut may leave zeros at its end.
 */
export class PrefixComparison {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(READ_BYTES);
  #position = 0;
  #zerosFrom: number | undefined;
  #differs = false;

  constructor(checkoutPath: string, path: string) {
    this.#descriptor = openFile(checkoutPath, path);
  }

  push(content: Buffer): void {
    for (let at = 0; at < content.length && !this.#differs; ) {
      const bytes = this.#read();
      if (bytes === 0) return;
      const part = content.subarray(at, at + bytes);
      const own = this.#buffer.subarray(0, part.length);
      if (this.#zerosFrom !== undefined || !own.equals(part)) this.#expectZeros(own, part);
      this.#position += part.length;
      at += part.length;
    }
  }

  #read(): number {
    return readSync(this.#descriptor, this.#buffer, 0, READ_BYTES, this.#position);
  }

  #expectZeros(own: Buffer, wanted: Buffer): void {
    const start = this.#zerosFrom === undefined ? own.findIndex((byte, index) => byte !== wanted[index]) : 0;
    this.#zerosFrom ??= this.#position + start;
    this.#differs = own.subarray(start).some((byte) => byte !== 0);
  }

  /** Whether the file is a prefix of the content that was pushed. */
  get isPrefix(): boolean {
    return !this.#differs && this.#read() === 0;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
