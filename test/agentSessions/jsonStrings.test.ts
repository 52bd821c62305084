import { describe, expect, it } from "vitest";
import { mapStrings } from "../../src/agentSessions/jsonStrings.ts";

const shout = (json: string, ...sealed: string[]) =>
  mapStrings(json, new Set(sealed), (text) => text.toUpperCase());

describe("the strings of a record", () => {
  it.each([
    ['{"a":"b","c":["d",{"e":"f"}]}', '{"A":"B","C":["D",{"E":"F"}]}'],
    ['"alone"', '"ALONE"'],
    [' { "a" : "b" ,\n"c":null } ', ' { "A" : "B" ,\n"C":null } '],
    [String.raw`{"a\"b":"c\\","d":"\u0065{}[],:"}`, String.raw`{"A\"B":"C\\","D":"E{}[],:"}`],
    ["[]", "[]"],
    ['""', '""'],
  ])("are changed, keys too, and nothing else is: %s", (json, changed) => {
    expect(shout(json)).toBe(changed);
  });

  it("leave numbers and the order of keys as they are, to the last digit", () => {
    const json = '{"2":12345678901234567890,"1":1.0,"x":"y","z":-0e0}';
    expect(shout(json)).toBe('{"2":12345678901234567890,"1":1.0,"X":"Y","Z":-0e0}');
  });

  it("stay as they are written where nothing is changed", () => {
    const json = String.raw`{"\u0041":"\/path"}`;
    expect(mapStrings(json, new Set(), (text) => text)).toBe(json);
  });

  it.each([
    ['{"seal":"a","b":"c"}', '{"SEAL":"a","B":"C"}'],
    ['{"seal":{"a":["b",{"c":"d"}]},"e":"f"}', '{"SEAL":{"a":["b",{"c":"d"}]},"E":"F"}'],
    ['{"seal":["a",["b"]],"c":"d"}', '{"SEAL":["a",["b"]],"C":"D"}'],
    ['{"seal":1,"a":"b"}', '{"SEAL":1,"A":"B"}'],
    ['[{"seal":null},{"a":"seal"}]', '[{"SEAL":null},{"A":"SEAL"}]'],
    ['{"a":{"seal":{}},"b":"c"}', '{"A":{"SEAL":{}},"B":"C"}'],
  ])("stay as they are below a sealed key: %s", (json, changed) => {
    expect(shout(json, "seal")).toBe(changed);
  });
});
