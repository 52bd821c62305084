import { describe, expect, it } from "vitest";
import { shortenTo, widthOf, wrapTo } from "../../src/display/columns.ts";

describe("widthOf", () => {
  it.each([
    ["", 0],
    ["abc ~", 5],
    ["漢字", 4],
    ["👍", 2],
  ])("%j takes %i columns", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it.each(["⠋", "·", "é", "…"])("never says less than %j takes", (text) => {
    expect(widthOf(text)).toBeGreaterThanOrEqual(1);
  });
});

describe("shortenTo", () => {
  it("leaves a text that fits", () => {
    expect(shortenTo("exactly", 7)).toBe("exactly");
  });

  it("says with an ellipsis that something is missing", () => {
    expect(shortenTo("a long sentence", 7)).toBe("a long…");
  });

  it.each([
    ["x".repeat(500), 80],
    ["漢".repeat(500), 80],
    ["a漢".repeat(500), 33],
    ["👍".repeat(500), 10],
    ["some words", 2],
  ])("makes %j fit into %i columns", (text, columns) => {
    expect(widthOf(shortenTo(text, columns))).toBeLessThanOrEqual(columns);
  });

  it("cuts between characters, never through one", () => {
    expect(shortenTo("👍👍👍👍", 6)).toBe("👍👍…");
  });
});

describe("wrapTo", () => {
  it.each([
    ["a text that fits", 20, ["a text that fits"]],
    ["breaks between words", 10, ["breaks", "between", "words"]],
    ["  keeps  blanks", 80, ["  keeps  blanks"]],
    ["/a/path/that/is/long stays whole", 10, ["/a/path/that/is/long", "stays", "whole"]],
    ["", 10, [""]],
  ])("%j in %i columns", (text, columns, lines) => {
    expect(wrapTo(text, columns)).toEqual(lines);
  });

  it("takes a line of a megabyte", () => {
    const text = "a ".repeat(500_000);
    expect(wrapTo(text, Number.POSITIVE_INFINITY)).toEqual([text]);
    expect(wrapTo(text, 80).join(" ")).toBe(text);
  });
});
