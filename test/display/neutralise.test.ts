import { describe, expect, it } from "vitest";
import { neutralise } from "../../src/display/neutralise.ts";

const codePoint = (value: number): string => `U+${value.toString(16).padStart(4, "0").toUpperCase()}`;

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, offset) => first + offset);

describe("neutralise", () => {
  it.each([
    ["a clipboard write (OSC 52)", "\u001b]52;c;ZXZpbA==\u0007", "\\u001b]52;c;ZXZpbA==\\u0007"],
    ["a window title", "\u001b]0;owned\u001b\\", "\\u001b]0;owned\\u001b\\"],
    ["a link that shows another address", "\u001b]8;;http://a\u0007b", "\\u001b]8;;http://a\\u0007b"],
    ["clearing the screen", "\u001b[2J\u001b[H", "\\u001b[2J\\u001b[H"],
    ["a reset of the terminal", "\u001bc", "\\u001bc"],
    ["colours", "\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
    [
      "a C1 sequence, which needs no escape character",
      "\u009b2J\u009d0;x\u009c",
      "\\u009b2J\\u009d0;x\\u009c",
    ],
    ["writing over a line", "good\rbad", "good\\u000dbad"],
    ["erasing what was written", "rm -rf\b\b\bok", "rm -rf\\u0008\\u0008\\u0008ok"],
    ["text that runs backwards", "\u202egnp.exe\u202c", "\\u202egnp.exe\\u202c"],
    ["isolated text", "\u2066a\u2069", "\\u2066a\\u2069"],
    ["a bell, a NUL, a delete", "\u0007\u0000\u007f", "\\u0007\\u0000\\u007f"],
    ["a form feed and a vertical tab", "a\fb\vc", "a\\u000cb\\u000bc"],
  ])("makes %s visible", (_, hostile, shown) => {
    expect(neutralise(hostile)).toBe(shown);
  });

  it("leaves no control character but tabs and line ends", () => {
    const controls = [...range(0x00, 0x1f), ...range(0x7f, 0x9f)];
    const passing = controls.filter((code) => neutralise(String.fromCharCode(code)).length === 1);
    expect(passing.map(codePoint)).toEqual(["U+0009", "U+000A"]);
  });

  it("leaves no character that changes the direction of text", () => {
    const marks = [0x061c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)];
    const passing = marks.filter((code) => neutralise(String.fromCharCode(code)).length === 1);
    expect(passing.map(codePoint)).toEqual([]);
  });

  it.each([
    "plain words",
    "\ttabs\nand lines\n",
    "naïve café",
    "漢字 かな",
    "שלום عربى",
    "👩‍👩‍👧 🇩🇪",
    "\ufffd",
    "",
  ])("leaves %j as it is", (text) => {
    expect(neutralise(text)).toBe(text);
  });

  it("changes nothing more when it is done twice", () => {
    const once = neutralise("\u001b[2J\r\u202e");
    expect(neutralise(once)).toBe(once);
  });
});
