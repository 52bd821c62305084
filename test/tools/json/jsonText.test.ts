import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../src/tools/json/jsonText.ts";
import { TextProblem } from "../../../src/tools/json/textProblem.ts";

const failureOf = (text: string, firstLine?: number): { line: number; problem: string } => {
  try {
    parseJsonText(text, firstLine);
  } catch (error) {
    if (error instanceof TextProblem) return { line: error.line, problem: error.problem };
  }
  throw new Error("It was taken for JSON.");
};

const GOOD = [
  "null",
  "true",
  "-0.5e+3",
  "1e2",
  '""',
  '"\\u00e9\\n\\"\\\\\\/ é 🙂"',
  "[]",
  "{}",
  " [ 1 , [ 2 , { } ] ] ",
  '{"a":{"b":[true,false,null]},"":0,"toString":1}',
  '{\r\n\t"a": [\r\n1\r\n]\r\n}\r\n',
];

it.each(GOOD)("reads JSON as JSON.parse() does: %s", (text) => {
  const { node, problems } = parseJsonText(text);
  expect(node.value).toEqual(JSON.parse(text));
  expect(problems).toEqual([]);
});

const BAD: [text: string, line: number, words: string][] = [
  ["", 1, "ends too early"],
  ['{\n"a": 1', 2, "a comma or } is missing"],
  ["[1,\n2,\n]", 2, "no comma before ]"],
  ['{"a": 1,\n}', 1, "no comma before }"],
  ["[1 2]", 1, 'a comma or ] is missing before "2]"'],
  ["{a: 1}", 1, "a key in double quotes is missing"],
  ['{"a" 1}', 1, 'a colon is missing after the key "a"'],
  ["{'a': 1}", 1, "a key in double quotes"],
  ["['a']", 1, "not single ones"],
  ["[1]\n// done", 2, "more after the end"],
  ["[\n// first\n1]", 2, "no comments"],
  ['["a\nb"]', 1, "does not end in its line"],
  ['["a\tb"]', 1, "a tab"],
  ['["\\x"]', 1, "a backslash"],
  ['["\\u12"]', 1, "a backslash"],
  ["[01]", 1, "a value is missing"],
  ["[1.]", 1, "a value is missing"],
  ["[.5]", 1, "a value is missing"],
  ["[+1]", 1, "a value is missing"],
  ["[NaN]", 1, "a value is missing"],
  ["[nullify]", 1, "a value is missing"],
  ["[undefined]", 1, "a value is missing"],
  ["\u00a0[]", 1, "a value is missing"],
  ["[".repeat(100_000), 1, "levels deep"],
];

it.each(BAD)("says in which line JSON goes wrong, and how: %j", (text, line, words) => {
  expect(() => JSON.parse(text)).toThrow();
  const failure = failureOf(text);
  expect(failure.line).toBe(line);
  expect(failure.problem).toContain(words);
});

it("counts lines from where the text stands in its file", () => {
  expect(failureOf("{\n\n!}", 40).line).toBe(42);
  const { node } = parseJsonText('{\n"a":\n[1,\n2]}', 10);
  const list = node.members?.get("a");
  expect(node.line).toBe(10);
  expect(list?.line).toBe(11);
  expect(list?.node.line).toBe(12);
  expect(list?.node.items?.map(({ line }) => line)).toEqual([12, 13]);
});

describe("a key that occurs twice", () => {
  it("is a problem at each repetition, with the line of the first", () => {
    const { node, problems } = parseJsonText('{"a": 1,\n"a": 2,\n"b": {"a": 0},\n"a": 3}');
    expect(problems.map(({ line }) => line)).toEqual([2, 4]);
    expect(problems[0]?.problem).toContain('"a" occurs twice; first in line 1');
    expect(node.value).toEqual({ a: 1, b: { a: 0 } });
  });

  it("is noticed when it is written in another way", () => {
    expect(parseJsonText('{"a": 1, "\\u0061": 2}').problems).toHaveLength(1);
  });
});

it("reads keys such as __proto__ as ordinary keys", () => {
  const { node } = parseJsonText('{"__proto__": {"runnable": "cli"}}');
  expect(Object.keys(node.value as object)).toEqual(["__proto__"]);
  expect((node.value as { runnable?: string }).runnable).toBeUndefined();
});
