import { describe, expect, it } from "vitest";
import { briefly, endOf, lastLines, shorten } from "../../src/tools/shorten.ts";

describe("a text", () => {
  it("is shortened to a length that includes the ellipsis", () => {
    expect(shorten("abcde", 5)).toBe("abcde");
    expect(shorten("abcdef", 5)).toBe("abcd…");
    expect(shorten("abc", 0)).toBe("…");
  });

  it("has no half of a character", () => {
    expect(shorten("ab😀", 4)).toBe("ab😀");
    expect(shorten("ab😀cd", 4)).toBe("ab\ufffd…");
    expect(shorten("\ud83d", 4)).toBe("\ufffd");
  });

  it("becomes one line", () => {
    expect(briefly("  a\n\tb\r\nc ", 10)).toBe("a b c");
    expect(briefly("a b c d", 4)).toBe("a b…");
  });

  it("is shown by its end", () => {
    expect(endOf("abc", 3)).toBe("abc");
    expect(endOf("abcdef", 3)).toBe("…def");
  });

  it("is shown by its last lines, of which the first may be cut", () => {
    expect(lastLines("a\nb\nc", 3, 10)).toBe("a\nb\nc");
    expect(lastLines("a\nb\nc", 2, 10)).toBe("…\nb\nc");
    expect(lastLines("abc\ndef", 2, 5)).toBe("…\nc\ndef");
  });
});
