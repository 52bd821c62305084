import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ExitMarkerFilter } from "../../../src/sandboxes/exec/exitMarkerFilter.ts";

const ID = "0123456789abcdef0123456789abcdef";
const marker = (code: number | string) => `\x1e${ID}:${code}\x1e`;

const filtered = (chunks: readonly Buffer[]) => {
  const passed: Buffer[] = [];
  const filter = new ExitMarkerFilter(ID, (data) => passed.push(Buffer.from(data)));
  for (const chunk of chunks) filter.push(chunk);
  filter.end();
  return { output: Buffer.concat(passed), exitCode: filter.exitCode };
};

const cutAtRandom = (data: Buffer): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let start = 0; start < data.length; ) {
    const end = start + 1 + Math.floor(Math.random() ** 3 * 60);
    chunks.push(data.subarray(start, end));
    start = end;
  }
  return chunks;
};

test("takes the marker out and reports its code", () => {
  expect(filtered([Buffer.from(`out\n${marker(42)}`)])).toEqual({
    output: Buffer.from("out\n"),
    exitCode: 42,
  });
});

test("drops what comes after the marker", () => {
  const chunks = [Buffer.from(`out${marker(0)}late`), Buffer.from("later")];
  expect(filtered(chunks)).toEqual({ output: Buffer.from("out"), exitCode: 0 });
});

test("passes on what only looks like a marker", () => {
  const texts = [
    "\x1e",
    `\x1e${ID}`,
    `\x1e${ID}:`,
    `\x1e${ID}:12`,
    `\x1e${ID}:1234\x1e`,
    `\x1e${ID}:x\x1e`,
    `\x1e${ID}:\x1e`,
    `\x1e\x1e\x1e${ID.slice(1)}:0\x1e`,
    marker(0).replace("f", "e"),
  ];
  for (const text of texts) {
    expect(filtered([Buffer.from(text)])).toEqual({ output: Buffer.from(text), exitCode: undefined });
  }
});

test("finds a marker right behind a false one", () => {
  const text = `\x1e${ID}:x${marker(7)}`;
  expect(filtered([Buffer.from(text)])).toEqual({ output: Buffer.from(`\x1e${ID}:x`), exitCode: 7 });
});

test("holds nothing back that cannot become a marker", () => {
  const passed: string[] = [];
  const filter = new ExitMarkerFilter(ID, (data) => passed.push(data.toString()));
  filter.push(Buffer.from("x"));
  filter.push(Buffer.from("y\x1e"));
  filter.push(Buffer.from("z"));
  expect(passed.join("")).toBe("xy\x1ez");
});

test("binary data passes unchanged, wherever the chunks are cut", () => {
  for (let round = 0; round < 500; round++) {
    const noise = randomBytes(Math.floor(Math.random() * 400)).map((byte) => (byte < 40 ? 0x1e : byte));
    const decoy = Math.random() < 0.5 ? Buffer.from(`\x1e${ID}:9999\x1e${ID}`) : Buffer.alloc(0);
    const content = Buffer.concat([noise, decoy, noise]);
    const code = Math.floor(Math.random() * 256);
    const stream = Buffer.concat([content, Buffer.from(marker(code)), randomBytes(20)]);
    expect(filtered(cutAtRandom(stream))).toEqual({ output: content, exitCode: code });
    expect(filtered(cutAtRandom(content))).toEqual({ output: content, exitCode: undefined });
  }
});
