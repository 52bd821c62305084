import { expect, test } from "vitest";
import { inputPieces } from "../../../src/sandboxes/relay/input.ts";
import { uploadTimeoutMs } from "../../../src/sandboxes/relay/uploadTimeout.ts";

/** What is left of a line of 3 Mbit/s when 20 runs upload at once. */
const SLOW_BYTES_PER_MS = 18;

const REQUEST_MS = 20_000;
const MEBIBYTE = 1024 * 1024;

test("every piece of an input may take as long as it takes over a slow line", async () => {
  const input = Buffer.alloc(9 * MEBIBYTE);
  let bytes = 0;
  for await (const piece of inputPieces(input, new AbortController().signal)) {
    bytes += piece.data.length;
    expect(uploadTimeoutMs([piece], REQUEST_MS)).toBeGreaterThan(piece.data.length / SLOW_BYTES_PER_MS);
  }
  expect(bytes).toBe(input.length);
});

test("all files of one upload count, and one without content has its time, too", () => {
  const [empty, large] = [{ data: new Uint8Array() }, { data: Buffer.alloc(4 * MEBIBYTE) }];
  expect(uploadTimeoutMs([empty], REQUEST_MS)).toBe(REQUEST_MS);
  expect(uploadTimeoutMs([large, large], REQUEST_MS)).toBeGreaterThan((8 * MEBIBYTE) / SLOW_BYTES_PER_MS);
});
