/** The reason why an archive is not unpacked: it continues "the archive is refused:". */
export class BadArchiveError extends Error {}

/** A header of an archive. Names are bytes, one character for each. */
export interface TarHeader {
  readonly type: string;
  readonly path: string;
  readonly target: string;
  readonly mode: number;
  readonly size: number;
}

export const BLOCK_BYTES = 512;

const USTAR = "ustar\0";
const CHECKSUM = { start: 148, end: 156 };

const textAt = (block: Buffer, start: number, end: number): string =>
  block.toString("latin1", start, end).split("\0", 1)[0] ?? "";

/** A number in octal digits; large numbers are binary, which the first byte says. */
const numberAt = (block: Buffer, start: number, end: number): number => {
  const first = block[start] ?? 0;
  if (first === 0x80) return wholeNumber(Number(`0x${block.toString("hex", start + 1, end)}`));
  const text = textAt(block, start, end).trim();
  if (!/^[0-7]*$/.test(text)) throw new BadArchiveError("it has a header that cannot be read");
  return Number.parseInt(text || "0", 8);
};

const wholeNumber = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new BadArchiveError("it has a header with an absurd size");
  return value;
};

const checksumOf = (block: Buffer): number =>
  block.reduce(
    (sum, byte, index) => sum + (index >= CHECKSUM.start && index < CHECKSUM.end ? 0x20 : byte),
    0,
  );

/** Reads a block of an archive as a header; `undefined` for the empty one at its end. */
export const readHeader = (block: Buffer): TarHeader | undefined => {
  if (block.every((byte) => byte === 0)) return undefined;
  if (numberAt(block, CHECKSUM.start, CHECKSUM.end) !== checksumOf(block)) {
    throw new BadArchiveError("it has a header with a wrong checksum");
  }
  const name = textAt(block, 0, 100);
  const prefix = block.toString("latin1", 257, 263) === USTAR ? textAt(block, 345, 500) : "";
  return {
    type: block.toString("latin1", 156, 157),
    path: prefix === "" ? name : `${prefix}/${name}`,
    target: textAt(block, 157, 257),
    mode: numberAt(block, 100, 108),
    size: numberAt(block, 124, 136),
  };
};
