import { createReadStream } from "node:fs";
import { constants, copyFile, open, readFile } from "node:fs/promises";
import { MAX_FILE_BYTES } from "./limits.ts";

const NEWLINE = 0x0a;

export interface Rewriting {
  /** Changes one record. */
  readonly rewrite: (json: string) => string;
  readonly signal: AbortSignal;
}

const LINE_END = Buffer.from([NEWLINE]);

/** Splits at `\n` only. Emits the rewritten lines of each chunk together. */
class RecordRewriter {
  #open: Buffer[] = [];

  constructor(private readonly rewrite: (json: string) => string) {}

  push(chunk: Buffer): Buffer {
    const rewritten: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#open.push(chunk.subarray(start, end));
      rewritten.push(this.end(), LINE_END);
      start = end + 1;
    }
    if (start < chunk.length) this.#open.push(chunk.subarray(start));
    return Buffer.concat(rewritten);
  }

  /** The text since the last line end. */
  end(): Buffer {
    const bytes = Buffer.concat(this.#open);
    this.#open = [];
    return rewriteBytes(bytes, this.rewrite);
  }
}

/** Keeps bytes that are not text, unless the line changes. */
const rewriteBytes = (bytes: Buffer, rewrite: (json: string) => string): Buffer => {
  if (bytes.length === 0) return bytes;
  const json = bytes.toString("utf8");
  const rewritten = rewrite(json);
  return rewritten === json ? bytes : Buffer.from(rewritten);
};

/** Writes a rewritten copy of a file of JSON records (one a line, or one); copies other files unchanged. */
export const rewriteFile = async (
  from: string,
  to: string,
  { rewrite, signal }: Rewriting,
): Promise<void> => {
  if (!/\.jsonl?$/.test(from)) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return;
  }
  const file = await open(to, "wx", 0o600);
  let size = 0;
  const write = async (bytes: Buffer): Promise<void> => {
    size += bytes.length;
    // The new paths may be much longer.
    if (size > MAX_FILE_BYTES)
      throw new Error(`with rewritten paths it would have more than ${MAX_FILE_BYTES} bytes`);
    await file.writeFile(bytes);
  };
  try {
    if (from.endsWith(".json")) {
      await write(rewriteBytes(await readFile(from, { signal }), rewrite));
      return;
    }
    const records = new RecordRewriter(rewrite);
    for await (const chunk of createReadStream(from, { signal }) as AsyncIterable<Buffer>) {
      await write(records.push(chunk));
    }
    await write(records.end());
  } finally {
    await file.close();
  }
};
