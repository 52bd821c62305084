import { describe, expect, it } from "vitest";
import { LineSplitter } from "../../src/tools/lineSplitter.ts";

const split = (chunks: Buffer[], maxLineBytes?: number): string[] => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), maxLineBytes);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
};

const bytewise = (text: string): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.from([byte]));

describe.each([
  ["lines", "a\nb\n", ["a", "b"]],
  ["a last line without an end", "a\nb", ["a", "b"]],
  ["empty lines", "\n\na\n", ["", "", "a"]],
  ["carriage returns at line ends", "a\r\nb\rc\r\n", ["a", "b\rc"]],
  ["characters of several bytes", "ä€🏜\nö\n", ["ä€🏜", "ö"]],
  ["U+2028 as text, not as a line end", "a\u2028b\u2029c\n", ["a\u2028b\u2029c"]],
  ["nothing", "", []],
])("splits %s", (_, text, expected) => {
  it("in one chunk", () => expect(split([Buffer.from(text)])).toEqual(expected));
  it("byte by byte", () => expect(split(bytewise(text))).toEqual(expected));
});

it("replaces invalid bytes instead of failing", () => {
  expect(split([Buffer.from([0x61, 0xff, 0x62, 0x0a])])).toEqual(["a\ufffdb"]);
});

it("delivers an endless line in pieces of bounded size", () => {
  expect(split([Buffer.from("abcdefgh\n")], 3)).toEqual(["abc", "def", "gh"]);
});
