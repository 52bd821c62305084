import { describe, expect, it } from "vitest";
import { TagReader } from "../../../src/engine/iterations/tagReader.ts";

const read = (pieces: Iterable<string>): string | undefined => {
  const reader = new TagReader("out");
  for (const piece of pieces) reader.push(piece);
  return contentOf(reader);
};

const contentOf = ({ found }: TagReader): string | undefined =>
  found !== undefined && "content" in found ? found.content : undefined;

const CASES: [string, string, string | undefined][] = [
  ["is what stands between the tags", "before <out>42</out> after", "42"],
  ["keeps line ends and markup", "<out>\n<b>x</b>\n</out>", "\n<b>x</b>\n"],
  ["may be empty", "<out></out>", ""],
  ["is that of the last tag", "<out>1</out> no: <out>2</out>", "2"],
  ["is not begun by an announcement", "I will use <out> tags. <out>1</out>", "1"],
  ["is not ended by a stray closing tag", "</out> <out>1</out> </out>", "1"],
  ["stays that of the last complete tag", "<out>1</out> <out>2", "1"],
  ["needs the exact tag", "<output>1</output> <Out>2</Out> <out >3</out>", undefined],
  ["is undefined without a tag", "nothing", undefined],
];

describe("the text in a tag", () => {
  it.each(CASES)("%s", (_, text, expected) => {
    expect(read([text])).toBe(expected);
  });

  it.each(CASES)("%s, also when it comes character by character", (_, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it("is found wherever the stream is cut in two", () => {
    const text = "x <out>a<b</out> y <out>c</ou</out> z";
    for (let at = 0; at <= text.length; at++) {
      expect(read([text.slice(0, at), text.slice(at)])).toBe("c</ou");
    }
  });

  it("is found after a flood of other text", () => {
    const flood = "y".repeat(1024 * 1024);
    expect(read([...Array(20).fill(flood), "<out>1</out>", ...Array(20).fill(flood)])).toBe("1");
  });

  it.each([
    ["in pieces", ["<out>", ...Array(5).fill("y".repeat(1024 * 1024)), "</out>"]],
    ["at once", [`<out>${"y".repeat(5 * 1024 * 1024)}</out>`]],
  ])("that is too long is not taken for another one, when it comes %s", (_, pieces) => {
    const reader = new TagReader("out");
    for (const piece of ["<out>1</out>", ...pieces]) reader.push(piece);
    expect(reader.found).toEqual({ isTooLong: true });
  });

  it("is not closed by another text", () => {
    const reader = new TagReader("out");
    reader.push("<out>left open");
    reader.endText();
    reader.push("</out> <out>1</out>");
    expect(contentOf(reader)).toBe("1");
  });

  it("is found among a million openings in no time worth mentioning", () => {
    expect(read([`${"<out>".repeat(1_000_000)}1</out>`])).toBe("1");
  });
});
