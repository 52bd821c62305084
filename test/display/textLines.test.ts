import { expect, it } from "vitest";
import { TextLines } from "../../src/display/textLines.ts";

const linesOf = (feed: (text: TextLines) => void): string[] => {
  const lines: string[] = [];
  feed(new TextLines((line) => lines.push(line)));
  return lines;
};

const push = (...pieces: string[]) =>
  linesOf((text) => {
    for (const piece of pieces) text.push(piece);
  });

it.each([
  ["one piece with several lines", ["a\nb\n"], ["a", "b"]],
  ["a line in several pieces", ["he", "llo", "\n"], ["hello"]],
  ["a line end between two pieces", ["a\n", "b\n"], ["a", "b"]],
  ["empty lines", ["a\n\n\nb\n"], ["a", "", "", "b"]],
  ["nothing", ["", ""], []],
])("makes lines of %s", (_, pieces, lines) => {
  expect(push(...pieces)).toEqual(lines);
});

it("holds a line back until it is complete", () => {
  expect(push("a\nunfinished")).toEqual(["a"]);
});

it("gives out the unfinished line at the end, once", () => {
  const lines = linesOf((text) => {
    text.push("a\nunfinished");
    text.end();
    text.end();
  });
  expect(lines).toEqual(["a", "unfinished"]);
});

it("does not keep an endless line in memory, and loses nothing of it", () => {
  const piece = "x".repeat(1000);
  const lines = linesOf((text) => {
    for (let count = 0; count < 100; count++) text.push(piece);
  });
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(20_000);
  expect(lines.join("").length).toBeGreaterThan(80_000);
});
