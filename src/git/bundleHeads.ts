import { open } from "node:fs/promises";
import { ImportRefusedError } from "../errors.ts";

/** A header this long has more refs and prerequisites than any sandbox has reason to make. */
const MAX_HEADER_BYTES = 8 * 1024 * 1024;

const SIGNATURE = /^# v[23] git bundle$/;
const HEAD_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (.+)$/;

const readHeader = async (path: string): Promise<string> => {
  const file = await open(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes < MAX_HEADER_BYTES; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, bytes);
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
      const end = Buffer.concat(chunks).indexOf("\n\n");
      if (end !== -1) return Buffer.concat(chunks).toString("utf8", 0, end);
    }
  } finally {
    await file.close();
  }
  throw new ImportRefusedError("the bundle has no complete header", path);
};

/** The refs that a bundle says it holds, with the commits they point to: the sandbox's word, not yet checked. */
export const readBundleHeads = async (path: string): Promise<ReadonlyMap<string, string>> => {
  const [signature = "", ...lines] = (await readHeader(path)).split("\n");
  if (!SIGNATURE.test(signature)) throw new ImportRefusedError("the bundle is malformed", path);
  const heads = new Map<string, string>();
  for (const line of lines) {
    const [, sha, name] = HEAD_LINE.exec(line) ?? [];
    if (sha !== undefined && name !== undefined) heads.set(name, sha);
  }
  return heads;
};
