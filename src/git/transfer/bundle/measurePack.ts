import { type FileHandle, open } from "node:fs/promises";
import { createInflate, type InflateRaw, inflateSync } from "node:zlib";
import { IMPORT_LIMITS, type ImportLimits, limitExceeded } from "../limits.ts";
import type { Bundle } from "./readBundle.ts";
import { malformedBundle } from "./readBundle.ts";

/** The measures of a pack that do not need the objects it builds on. */
export interface PackMeasure {
  readonly objects: number;
  /** The size of all objects, with deltas applied. */
  readonly unpackedBytes: number;
  /** Whether any object is a commit, or a delta that may be one. */
  readonly mayHoldCommits: boolean;
}

const COMMIT = 1;
const OFFSET_DELTA = 6;
const REF_DELTA = 7;
const HEADER_BYTES = 12;
/** Type and size, the base of a delta, and the beginning of the compressed data. */
const ENTRY_HEADER_BYTES = 64;
/** Objects up to this size are inflated in one call: a stream for each would take longer than inflating it. */
const AT_ONCE_BYTES = 1024 * 1024;
const READ_BYTES = 256 * 1024;

/** The part of a file that is in memory. */
class Window {
  #bytes: Buffer = Buffer.alloc(0);
  /** The offset of the bytes in the file. */
  #start: number;

  constructor(
    private readonly file: FileHandle,
    readonly path: string,
    start: number,
  ) {
    this.#start = start;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Reads more of the file; resolves with `false` at its end. */
  async extend(count = READ_BYTES): Promise<boolean> {
    const more = Buffer.allocUnsafe(Math.max(count, this.#bytes.length));
    const { bytesRead } = await this.file.read(more, 0, more.length, this.#start + this.#bytes.length);
    if (bytesRead > 0) this.#bytes = Buffer.concat([this.#bytes, more.subarray(0, bytesRead)]);
    return bytesRead > 0;
  }

  async atLeast(count: number): Promise<Buffer> {
    while (this.#bytes.length < count && (await this.extend())) {}
    return this.#bytes;
  }

  skip(count: number): void {
    this.#start += count;
    this.#bytes = count < this.#bytes.length ? this.#bytes.subarray(count) : Buffer.alloc(0);
  }
}

/** Reads a number, seven bits a byte. Beyond 2^53 it is rounded, but never becomes a small number. */
const readSize = (
  bytes: Buffer,
  at: number,
  first?: { readonly value: number; readonly scale: number; readonly ends: boolean },
): { readonly value: number; readonly next: number } | undefined => {
  let { value, scale } = first ?? { value: 0, scale: 1 };
  let next = at;
  let ends = first?.ends ?? false;
  while (!ends) {
    const byte = bytes[next++];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * scale;
    scale *= 128;
    ends = (byte & 0x80) === 0;
  }
  return { value, next };
};

interface Inflated {
  /** The first bytes. */
  readonly start: Buffer;
  readonly size: number;
}

const isCutOff = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "Z_BUF_ERROR";

/** Inflates the next object of the window, and skips it; `undefined` if it is malformed. */
const inflateAtOnce = async (window: Window, size: number): Promise<Inflated | undefined> => {
  for (;;) {
    try {
      const { buffer, engine } = inflateSync(window.bytes, {
        info: true,
        maxOutputLength: Math.max(size, 1),
      }) as unknown as { buffer: Buffer; engine: InflateRaw };
      window.skip(engine.bytesWritten);
      return { start: buffer, size: buffer.length };
    } catch (error) {
      if (!isCutOff(error) || !(await window.extend())) return undefined;
    }
  }
};

/** Does the same for an object that is too large for memory. */
const inflateInPieces = async (window: Window, size: number): Promise<Inflated | undefined> => {
  const inflate = createInflate();
  let start: Buffer = Buffer.alloc(0);
  let inflated = 0;
  let isOver = false;
  const ended = new Promise<boolean>((resolve) => {
    inflate.once("end", () => resolve(true));
    inflate.once("error", () => resolve(false));
  }).finally(() => {
    isOver = true;
  });
  inflate.on("data", (chunk: Buffer) => {
    if (start.length === 0) start = chunk.subarray(0, ENTRY_HEADER_BYTES);
    inflated += chunk.length;
    if (inflated > size) inflate.destroy(new RangeError("more than it says"));
  });
  let before = 0;
  while (!isOver) {
    if (window.bytes.length === 0 && !(await window.extend())) break;
    const chunk = window.bytes;
    await Promise.race([ended, new Promise<void>((resolve) => inflate.write(chunk, () => resolve()))]);
    window.skip(Math.min(chunk.length, inflate.bytesWritten - before));
    before = inflate.bytesWritten;
    await new Promise(setImmediate);
    if (window.bytes.length > 0) break;
  }
  if (!isOver) inflate.end();
  return (await ended) && inflated === size ? { start, size: inflated } : undefined;
};

/** The unpacked size of an object. A delta declares it in its first bytes. */
const unpackedSize = ({ start, size }: Inflated, isDelta: boolean): number | undefined => {
  if (!isDelta) return size;
  const base = readSize(start, 0);
  return base && readSize(start, base.next)?.value;
};

const measure = async (window: Window, hashBytes: number, limits: ImportLimits): Promise<PackMeasure> => {
  const malformed = () => malformedBundle(window.path);
  const header = await window.atLeast(HEADER_BYTES);
  if (header.length < HEADER_BYTES) throw malformed();
  const objects = header.readUInt32BE(8);
  if (objects > limits.objects) throw limitExceeded("objects", window.path, limits);
  window.skip(HEADER_BYTES);
  let unpackedBytes = 0;
  let mayHoldCommits = false;
  for (let number = 0; number < objects; number++) {
    const bytes = await window.atLeast(ENTRY_HEADER_BYTES);
    const first = bytes[0] ?? 0;
    const type = (first >> 4) & 7;
    const isDelta = type === OFFSET_DELTA || type === REF_DELTA;
    const size = readSize(bytes, 1, { value: first & 0x0f, scale: 16, ends: (first & 0x80) === 0 });
    const base = type === OFFSET_DELTA ? size && readSize(bytes, size.next) : size;
    if (size === undefined || base === undefined) throw malformed();
    if (size.value > limits.objectBytes) throw limitExceeded("objectBytes", window.path, limits);
    window.skip(base.next + (type === REF_DELTA ? hashBytes : 0));
    const inflate = size.value <= AT_ONCE_BYTES ? inflateAtOnce : inflateInPieces;
    const inflated = await inflate(window, size.value);
    const unpacked = inflated && unpackedSize(inflated, isDelta);
    if (inflated?.size !== size.value || unpacked === undefined) throw malformed();
    if (unpacked > limits.objectBytes) throw limitExceeded("objectBytes", window.path, limits);
    unpackedBytes += unpacked;
    if (unpackedBytes > limits.unpackedBytes) throw limitExceeded("unpackedBytes", window.path, limits);
    mayHoldCommits ||= isDelta || type === COMMIT;
  }
  return { objects, unpackedBytes, mayHoldCommits };
};

/**
 * Reads the pack of a bundle and adds up the unpacked sizes of its objects, without applying deltas. Git itself has no
 * such limits: it allocates the memory that the largest object declares. Git later checks the same sizes, so a false
 * one is refused either way.
 */
export const measurePack = async (
  { path, packOffset }: Pick<Bundle, "path" | "packOffset">,
  hashBytes: number,
  limits: ImportLimits = IMPORT_LIMITS,
): Promise<PackMeasure> => {
  const file = await open(path, "r");
  try {
    return await measure(new Window(file, path, packOffset), hashBytes, limits);
  } finally {
    await file.close();
  }
};
