import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { ImportRefusedError } from "../../../errors.ts";

/** The header of a bundle file, untrusted. */
export interface Bundle {
  readonly path: string;
  /** Commits outside the bundle that its commits build on. */
  readonly prerequisites: readonly string[];
  /** The refs that it declares, with their commits. */
  readonly heads: ReadonlyMap<string, string>;
  readonly packOffset: number;
}

/** No honest sandbox has that many refs and prerequisites. */
const MAX_HEADER_BYTES = 8 * 1024 * 1024;
const PACK_SIGNATURE = "PACK";

const SIGNATURE = /^# v[23] git bundle$/;
const PREREQUISITE_LINE = /^-([0-9a-f]{40}|[0-9a-f]{64})( |$)/;
const HEAD_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (.+)$/;

export const malformedBundle = (path: string): ImportRefusedError =>
  new ImportRefusedError("the bundle is malformed", path);

const parseHeader = (path: string, header: string): Pick<Bundle, "prerequisites" | "heads"> => {
  const [signature = "", ...lines] = header.split("\n");
  if (!SIGNATURE.test(signature)) throw malformedBundle(path);
  const heads = new Map<string, string>();
  const prerequisites: string[] = [];
  for (const line of lines) {
    const [, prerequisite] = PREREQUISITE_LINE.exec(line) ?? [];
    if (prerequisite !== undefined) prerequisites.push(prerequisite);
    const [, sha, name] = HEAD_LINE.exec(line) ?? [];
    if (sha !== undefined && name !== undefined) heads.set(name, sha);
  }
  return { prerequisites, heads };
};

/** Reads the header: a signature, then prerequisites and refs, one a line, up to the empty line before the pack. */
export const readBundle = (path: string): Bundle => {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const start = Buffer.alloc(Math.min(size, MAX_HEADER_BYTES));
    readSync(file, start, 0, start.length, 0);
    const end = start.indexOf("\n\n");
    if (end === -1) throw malformedBundle(path);
    const packOffset = end + 2;
    const packStart = start.toString("latin1", packOffset, packOffset + PACK_SIGNATURE.length);
    if (packStart !== PACK_SIGNATURE) throw malformedBundle(path);
    return { path, ...parseHeader(path, start.toString("utf8", 0, end)), packOffset };
  } finally {
    closeSync(file);
  }
};

/** The pack of a bundle, as git reads it from its standard input. */
export const packOf = ({ path, packOffset }: Bundle): AsyncIterable<Uint8Array> =>
  createReadStream(path, { start: packOffset });
