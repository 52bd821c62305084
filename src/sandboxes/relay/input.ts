import { setTimeout as delay } from "node:timers/promises";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type { ExecInput } from "../contract.ts";

/** The size of a piece: held in memory, sent in one request, and sent again if that fails. */
const PIECE_BYTES = 2 * 1024 * 1024;

/** How long to wait for more input before a piece is sent. */
const QUIET_MS = 5;

/** No chunk is longer than a piece. A waiting source is closed when the signal is aborted. */
async function* chunksOf(input: ExecInput, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (typeof input === "string" || input instanceof Uint8Array) {
    const all = typeof input === "string" ? Buffer.from(input) : input;
    for (let start = 0; start < all.length; start += PIECE_BYTES) {
      yield all.subarray(start, start + PIECE_BYTES);
    }
    return;
  }
  const source = input[Symbol.asyncIterator]();
  const leave = () => void source.return?.().catch(() => {});
  const stopWaiting = onAbort(signal, leave);
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      yield* chunksOf(next.value, signal);
    }
  } finally {
    stopWaiting();
  }
}

export interface InputPiece {
  readonly data: Uint8Array;
  readonly isLast: boolean;
}

/**
 * Standard input in as few pieces as possible, because each is a request. A piece is sent as soon as the source pauses. The first
 * piece is for the command's wrapper alone: in a piece that also holds the command's input, the command could read it.
 */
export async function* inputPieces(input: ExecInput, signal: AbortSignal): AsyncGenerator<InputPiece> {
  const source = chunksOf(input, signal);
  let coming = source.next();
  for (let isFirst = true; ; isFirst = false) {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      // It may fail after the loop has ended.
      coming.catch(() => {});
      const next = bytes === 0 ? await coming : await Promise.race([coming, delay(QUIET_MS, undefined)]);
      if (next === undefined) break;
      if (next.done) {
        yield { data: Buffer.concat(chunks), isLast: true };
        return;
      }
      if (bytes > 0 && (isFirst || bytes + next.value.length > PIECE_BYTES)) break;
      chunks.push(next.value);
      bytes += next.value.length;
      coming = source.next();
    }
    yield { data: Buffer.concat(chunks), isLast: false };
  }
}
