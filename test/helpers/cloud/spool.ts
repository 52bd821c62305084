import { open } from "node:fs/promises";
import type { Readable } from "node:stream";

const PIECE_BYTES = 64 * 1024;

/** The output of a command, kept in a file, so that it can be read again from anywhere. */
export interface Spool {
  /** What there is from `offset` on; goes on until the output ends or `signal` is aborted. */
  read(offset: number, signal: AbortSignal): AsyncGenerator<Buffer>;
  /** No more will come, whatever the command does. */
  end(): void;
  close(): Promise<void>;
}

/** Reads at once: what a process has printed when it ends, and nobody reads, is thrown away. */
export const spool = (stream: Readable, path: string): Spool => {
  const opening = open(path, "w+");
  const waiting = new Set<() => void>();
  let bytes = 0;
  let hasEnded = false;
  const wake = () => {
    for (const resume of waiting) resume();
    waiting.clear();
  };
  const end = () => {
    hasEnded = true;
    wake();
  };
  const fill = async () => {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const file = await opening;
      await file.write(chunk, 0, chunk.length, bytes);
      bytes += chunk.length;
      wake();
    }
  };
  fill().then(end, end);

  async function* read(offset: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const file = await opening;
    let at = offset;
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        if (at < bytes) {
          const piece = Buffer.alloc(Math.min(PIECE_BYTES, bytes - at));
          const { bytesRead } = await file.read(piece, 0, piece.length, at);
          at += bytesRead;
          yield piece.subarray(0, bytesRead);
        } else if (hasEnded) {
          return;
        } else {
          await new Promise<void>((resolve) => waiting.add(resolve));
        }
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }
  return { read, end, close: async () => (await opening).close() };
};
